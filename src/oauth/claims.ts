import { refused, type Verdict } from './verdict.ts';

type Claims = Readonly<Record<string, unknown>>;

/** What a JWT and an answer of introspection have in common, once they are known to be true. */
export function verdictFrom(issuer: string, claims: Claims, expiresAt: number): Verdict {
  const { sub, cnf } = claims;
  if (typeof sub !== 'string' || sub === '') return refused('it names no user');
  const binding = bindingOf(cnf);
  if (binding === undefined) return refused('it is bound to its client in a way that is not known here');
  const clientId = text(claims.client_id) ?? text(claims.azp);
  return {
    ok: true,
    token: {
      issuer,
      subject: sub,
      ...(clientId === undefined ? {} : { clientId }),
      scopes: scopesOf(claims),
      claims,
      expiresAt,
      ...binding,
    },
  };
}

/** RFC 7800: a confirmation that we cannot check is not a reason to do without. */
function bindingOf(confirmation: unknown): { readonly boundTo?: string } | undefined {
  if (confirmation === undefined) return {};
  if (typeof confirmation !== 'object' || confirmation === null) return undefined;
  const { jkt, ...others } = confirmation as Record<string, unknown>;
  const known = typeof jkt === 'string' && Object.keys(others).length === 0;
  return known ? { boundTo: jkt } : undefined;
}

/** RFC 9068 §2.2.3 has `scope`, a text; Entra and Okta have `scp`, a text or a list. */
function scopesOf({ scope, scp }: Claims): readonly string[] {
  const said = scope ?? scp;
  const list = typeof said === 'string' ? said.split(' ') : Array.isArray(said) ? said : [];
  return list.filter((one): one is string => typeof one === 'string' && one !== '');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
