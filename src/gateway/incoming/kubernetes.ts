import { readFile } from 'node:fs/promises';
import { codeOf } from '../../base/index.ts';
import { claimedIssuer, createFetch, unavailable } from '../../oauth/index.ts';
import type { KubernetesPlan, OidcPlan } from '../../plan/index.ts';
import { type Checker, type CheckerParts, createOidcChecker } from './checker.ts';

/** What every pod has of its cluster. */
export interface Cluster {
  readonly api: string;
  readonly tokenFile: string;
  readonly caFile: string;
}

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
export const OWN_CLUSTER: Cluster = {
  api: 'https://kubernetes.default.svc',
  tokenFile: `${MOUNT}/token`,
  caFile: `${MOUNT}/ca.crt`,
};

/**
 * For service account tokens of the cluster. The API server serves the keys itself, whatever name its tokens carry as issuer:
 * managed clusters have one outside, others `https://kubernetes.default.svc.cluster.local` or the like.
 */
export function createKubernetesChecker(
  plan: KubernetesPlan,
  parts: CheckerParts,
  cluster: Cluster = OWN_CLUSTER,
): Checker {
  let found: Promise<{ readonly checker: Checker; readonly issuer: string }> | undefined;

  async function build(): Promise<{ readonly checker: Checker; readonly issuer: string }> {
    const ca = [plan.ca, plan.clusterAuth ? await readIfThere(cluster.caFile) : undefined];
    const trusted = ca.filter((pem) => pem !== undefined).join('\n');
    const issuer = plan.issuer ?? (await detectIssuer(cluster, trusted));
    const { clusterAuth } = plan;
    const settings: OidcPlan = {
      ...plan,
      kind: 'oidc',
      issuer,
      addresses: clusterAuth ? 'private' : 'public',
      allowHttp: false,
      ...(clusterAuth
        ? { jwksUrl: plan.jwksUrl ?? `${cluster.api}/openid/v1/jwks`, tokenFile: cluster.tokenFile }
        : {}),
      ...(trusted === '' ? {} : { ca: trusted }),
    };
    const checker = createOidcChecker(settings, parts);
    return { checker, issuer };
  }

  /** Found out once; what failed is tried again with the next token. */
  function ready(): Promise<{ readonly checker: Checker; readonly issuer: string }> {
    found ??= build().catch((error: unknown) => {
      found = undefined;
      throw unavailable('the issuer of the cluster cannot be found out', error);
    });
    return found;
  }

  let built: Checker | undefined;
  return {
    known: (token) => built?.known(token),
    async check(token) {
      built = (await ready()).checker;
      return await built.check(token);
    },
    issuer: async () => (await ready()).issuer,
    async close() {
      await (await found?.catch(() => undefined))?.checker.close();
    },
  };
}

/** The token of our own pod says it, else the API server does. One that shows its document to nobody has the usual name. */
async function detectIssuer({ api, tokenFile }: Cluster, ca: string): Promise<string> {
  const token = (await readIfThere(tokenFile))?.trim();
  const own = token === undefined ? undefined : claimedIssuer(token);
  if (own !== undefined) return own;
  const fetch = createFetch({ range: 'private', timeout: 5_000, ...(ca === '' ? {} : { ca }) });
  try {
    const answer = await fetch(`${api}/.well-known/openid-configuration`, { headers: { accept: 'application/json' } });
    const document = answer.status === 200 ? ((await answer.json()) as { issuer?: unknown } | null) : null;
    return typeof document?.issuer === 'string' ? document.issuer : api;
  } finally {
    await fetch.close();
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
