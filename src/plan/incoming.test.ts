import { describe, expect, it } from 'vitest';
import { Secret } from '../base/index.ts';
import { textValidator } from '../resources/testing/examples.ts';
import { readDocuments } from '../sources/yaml-documents.ts';
import { planIncoming } from './incoming.ts';
import type { IncomingPlan } from './plan.ts';

const { validateText } = textValidator(readDocuments);

const OTHERS = `
---
apiVersion: sallyport.dev/v1alpha1
kind: MCPGroup
metadata: {name: desk}
---
apiVersion: v1
kind: Secret
metadata: {name: client}
stringData: {secret: hush}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: roots}
data: {ca.crt: OWN}
`;

/** What a virtual server with this `incomingAuth` means. */
function planned(incomingAuth: string, more = '', ca?: string): IncomingPlan {
  const server = `apiVersion: sallyport.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: desk}
spec:
  groupRef: {name: desk}
  incomingAuth: ${incomingAuth}
`;
  const { resources, problems } = validateText(`${server}${OTHERS}${more}`);
  const [desk] = resources?.virtualMcpServers ?? [];
  if (!resources || !desk) throw new Error(problems.map(({ message }) => message).join('\n'));
  const secretOf = (namespace: string, ref: { name: string; key: string }) =>
    new Secret(`${namespace}/${ref.name}/${ref.key}`);
  const { incomingAuth: auth, authServerConfig } = desk.spec;
  const place = { namespace: desk.metadata.namespace, incomingAuth: auth, ownIssuer: authServerConfig?.issuer };
  return planIncoming(resources, place, { secretOf, ...(ca === undefined ? {} : { ca }) });
}

const CONFIG = (inline: string): string => `
---
apiVersion: sallyport.dev/v1alpha1
kind: MCPOIDCConfig
metadata: {name: login}
spec: {type: inline, inline: {${inline}}}
`;
const inline = (fields: string, beside = ''): string =>
  `{type: oidc, oidcConfig: {type: inline, inline: {issuer: https://a.example, audience: x${fields}}${beside}}}`;

const DEFAULTS = {
  kind: 'oidc',
  issuer: 'https://a.example',
  audience: 'x',
  scopes: ['openid'],
  requiredScopes: [],
  addresses: 'public',
  allowHttp: false,
};

it('anonymous is anonymous', () => {
  expect(planned('{type: anonymous}')).toEqual({ kind: 'anonymous' });
});

describe('inline', () => {
  it('has strict defaults', () => {
    expect(planned(inline(''))).toEqual(DEFAULTS);
  });

  it.each<[string, object]>([
    [', jwksUrl: https://k.example/keys', { jwksUrl: 'https://k.example/keys' }],
    [', introspectionUrl: https://k.example/i', { introspectionUrl: 'https://k.example/i' }],
    [', jwksAuthTokenPath: /var/run/token', { tokenFile: '/var/run/token' }],
    [', scopes: [a, b], requiredScopes: [a]', { scopes: ['a', 'b'], requiredScopes: ['a'] }],
    [', jwksAllowPrivateIP: true', { addresses: 'private' }],
    [', insecureAllowHTTP: true', { allowHttp: true }],
    [', caBundleRef: {configMapRef: {name: roots}}', { ca: 'OWN' }],
    [
      ', clientId: desk, clientSecretRef: {name: client, key: secret}',
      { clientId: 'desk', clientSecret: new Secret('default/client/secret') },
    ],
  ])('%s', (fields, effect) => {
    expect(planned(inline(fields))).toEqual({ ...DEFAULTS, ...effect });
  });

  it('is public by its resourceUrl, else by an audience that is a URL', () => {
    expect(planned(inline('', ', resourceUrl: https://m.example/mcp'))).toMatchObject({
      resource: 'https://m.example/mcp',
    });
    const url =
      '{type: oidc, oidcConfig: {type: inline, inline: {issuer: https://a.example, audience: https://m.example/mcp}}}';
    expect(planned(url)).toMatchObject({ resource: 'https://m.example/mcp' });
  });

  it('trusts the certificates of the command line besides its own', () => {
    expect(planned(inline(', caBundleRef: {configMapRef: {name: roots}}'), '', 'COMMON')).toMatchObject({
      ca: 'OWN\nCOMMON',
    });
  });
});

describe('kubernetes', () => {
  it('needs nothing to be said', () => {
    expect(planned('{type: oidc, oidcConfig: {type: kubernetes}}')).toEqual({
      kind: 'kubernetes',
      audience: 'sallyport',
      scopes: ['openid'],
      requiredScopes: [],
      clusterAuth: true,
    });
  });

  it('takes what is said', () => {
    const fields =
      'audience: x, issuer: https://i.example, jwksUrl: https://k.example, introspectionUrl: https://q.example';
    expect(
      planned(
        `{type: oidc, oidcConfig: {type: kubernetes, kubernetes: {${fields}, useClusterAuth: false}}}`,
        '',
        'PEM',
      ),
    ).toMatchObject({
      audience: 'x',
      issuer: 'https://i.example',
      jwksUrl: 'https://k.example',
      introspectionUrl: 'https://q.example',
      clusterAuth: false,
      ca: 'PEM',
    });
  });
});

describe('a reference', () => {
  const reference = (fields = '') => `{type: oidc, oidcConfigRef: {name: login, audience: x${fields}}}`;

  it('without an embedded server is an issuer elsewhere', () => {
    expect(planned(reference(', requiredScopes: [a]'), CONFIG('issuer: https://a.example'))).toEqual({
      ...DEFAULTS,
      requiredScopes: ['a'],
    });
  });

  it('has a public URL of its own where the audience is another name', () => {
    const plan = planned(reference(', resourceUrl: https://m.example/mcp'), CONFIG('issuer: https://a.example'));
    expect(plan).toMatchObject({ audience: 'x', resource: 'https://m.example/mcp' });
  });

  it('with an embedded server means its tokens, for the audience alone', () => {
    const server = `{type: oidc, oidcConfigRef: {name: login}, audience: https://m.example/mcp}
  authServerConfig:
    issuer: https://m.example
    upstreamProviders: [{name: corp, type: oidc, oidcConfig: {issuerUrl: https://i.example, clientId: c}}]`;
    expect(planned(server, CONFIG('issuer: https://m.example'))).toEqual({
      kind: 'embedded',
      issuer: 'https://m.example',
      audience: 'https://m.example/mcp',
      resource: 'https://m.example/mcp',
      scopes: ['openid'],
      requiredScopes: [],
    });
  });
});
