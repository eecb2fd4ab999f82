import { InvalidArgumentError, Option } from 'commander';
import type { Access } from '../gateway/index.ts';
import type { OutputFormat } from './output.ts';

export type { OutputFormat };

/** Options that several commands share, so that they look and behave the same everywhere. */

export function formatOption(): Option {
  return new Option('--format <format>', 'how to print the answer').choices(['text', 'json']).default('text');
}

export function hostOption(): Option {
  return new Option('--host <address>', 'address to listen on').default('127.0.0.1');
}

export function allowedHostOption(): Option {
  return new Option('--allowed-host <name>', 'further name by which clients may call, repeatable')
    .argParser(collect)
    .default([], 'none');
}

export function allowedOriginOption(): Option {
  return new Option('--allowed-origin <origin>', 'web page that may call, such as https://app.example.net, repeatable')
    .argParser(collectOrigin)
    .default([], 'none');
}

/** The flags that say from where an endpoint may be reached. */
export interface AccessFlags {
  readonly host: string;
  readonly allowedHost: readonly string[];
  readonly allowedOrigin: readonly string[];
  readonly trustProxyHeaders: boolean;
}

export function accessOf({ host, allowedHost, allowedOrigin, trustProxyHeaders }: AccessFlags): Access {
  return { host, allowedHosts: allowedHost, allowedOrigins: allowedOrigin, trustProxyHeaders };
}

export function trustProxyOption(): Option {
  return new Option(
    '--trust-proxy-headers',
    'believe X-Forwarded-Proto, -Host, -Port and -Prefix about the public URL; only behind a proxy that overwrites them',
  ).default(false);
}

export function caBundleOption(): Option {
  return new Option(
    '--thv-ca-bundle, --ca-bundle <file>',
    'PEM certificates to trust besides those of the system, for identity providers and a server at a URL',
  );
}

function collect(text: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, text];
}

function collectOrigin(text: string, earlier: readonly string[]): readonly string[] {
  if (URL.parse(text)?.origin !== text)
    throw new InvalidArgumentError('an origin is a scheme, a host and maybe a port: https://app.example.net.');
  return [...earlier, text];
}

export function secretsOption(): Option {
  return new Option(
    '--secrets-dir <folder>',
    'folder with secret values, one folder per secret and one file per key; SALLYPORT_SECRET_<NAME>_<KEY> wins over it; other namespaces than default stand in front of both',
  ).env('SALLYPORT_SECRETS_DIR');
}

export function insistOption(): Option {
  return new Option(
    '--insecure-allow-anonymous',
    'serve without authentication even on an address that others can reach',
  ).default(false);
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number from 0 to 65535.');
  return port;
}
