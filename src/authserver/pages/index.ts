/**
 * The pages that a user sees during a login, and the one that shows what came of it. Pure functions from a model to HTML, plus the one function that sends it. They know
 * nothing of flows and providers, run no script, and never show text of a provider or a backend.
 */
export { destinationOf } from './address.ts';
export { connectionsPage } from './connections.ts';
export { consentPage } from './consent.ts';
export { donePage } from './done.ts';
export { errorPage } from './error.ts';
export { leadOnPage } from './lead-on.ts';
export type {
  ClientView,
  ConnectionsModel,
  ConnectionView,
  ConsentModel,
  DoneModel,
  ErrorModel,
  LeadOnModel,
  LoginView,
  Page,
  ProgressModel,
  ProviderView,
} from './model.ts';
export { progressPage } from './progress.ts';
export { PAGE_HEADERS, sendPage } from './send.ts';
