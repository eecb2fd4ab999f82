/** HTTP out: one guarded client for every request that leaves the process. A door of its own, since undici is heavy to load. */
export { type AddressRange, isAllowedAddress } from './addresses.ts';
export {
  createHttpClient,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
} from './client.ts';
