import { describe, expect, it } from 'vitest';
import { consentPage } from './consent.ts';

function pageFor(redirectUri: string, verifiedHost?: string): string {
  const id = verifiedHost === undefined ? 'an-id' : `https://${verifiedHost}/client.json`;
  return consentPage({
    client: { id, name: 'Notes', ...(verifiedHost === undefined ? {} : { verifiedHost }) },
    redirectUri,
    resource: 'https://gate.example/mcp',
    scopes: ['openid'],
    providers: [],
    action: '/consent',
    csrf: 'x',
  }).html;
}

describe('the consent page warns', () => {
  it.each([
    ['of a website that nobody vouches for', pageFor('https://app.example/cb')],
    ['of a website that another host vouches for', pageFor('https://attacker.example/cb', 'files.example')],
    ['of a website below the host that vouches', pageFor('https://users.app.example/cb', 'app.example')],
    ['of another port of that host', pageFor('https://app.example:8443/cb', 'app.example')],
    ['of a program on this computer, whoever vouches', pageFor('http://127.0.0.1:9/cb', 'app.example')],
    ['of an app', pageFor('com.example.app:/cb')],
  ])('%s', (_what, html) => {
    expect(html).toContain('class="caution"');
  });

  it('not of a website that vouches for itself', () => {
    expect(pageFor('https://app.example/cb', 'app.example')).not.toContain('class="caution"');
  });
});
