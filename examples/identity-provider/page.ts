import { createHash } from 'node:crypto';
import { USERS } from './users.ts';

const STYLE = `
:root{color-scheme:light dark;--ground:#eef1f6;--card:#fff;--text:#1c2333;--quiet:#566077;--line:#ccd3e0;--hover:#f4f6fb;--focus:#3344aa;
  --warn:#7a1f00;--warnGround:#ffe9df}
@media (prefers-color-scheme:dark){:root{--ground:#11141c;--card:#1a1f2b;--text:#e8ebf3;--quiet:#a5aec2;--line:#343c4f;--hover:#222938;
  --focus:#9fb0ff;--warn:#ffc7ae;--warnGround:#3a1c10}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
aside{padding:.75rem 1rem;background:var(--warnGround);color:var(--warn);text-align:center;font-weight:600}
main{max-width:26rem;margin:clamp(1rem,8vh,5rem) auto;padding:1.5rem}
h1{margin:0 0 .25rem;font-size:1.5rem;line-height:1.25}
p{margin:0 0 1.25rem;color:var(--quiet)}
button{display:block;width:100%;min-height:3.75rem;margin:0 0 .75rem;padding:.625rem 1rem;border:1px solid var(--line);border-radius:.625rem;
  background:var(--card);color:inherit;font:inherit;text-align:start;cursor:pointer}
button:hover{background:var(--hover)}
button:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
button strong,button span{display:block}
button span{color:var(--quiet);font-size:.875rem}
button.cancel{min-height:2.75rem;border-color:transparent;background:none;text-align:center;color:var(--quiet)}
`;

/** Without `form-action`: the login leads back through redirects to whichever client asked for it. */
export const LOGIN_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Two people to choose from. There is nothing on this page that a stranger has written. */
export function loginPage(provider: string): string {
  const buttons = USERS.map(
    ({ id, name, email }) =>
      `<button name="user" value="${id}"><strong>Log in as ${name}</strong><span>${email}</span></button>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Log in at ${provider} · identity provider for development</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${STYLE}</style>
</head>
<body>
<aside>Development only. This identity provider asks for no password and lets anybody be anyone.</aside>
<main>
<h1>Log in at ${provider}</h1>
<p>A stand-in for a real identity provider. Who are you today?</p>
<form method="post">
${buttons.join('\n')}
<button class="cancel" name="user" value="">Cancel the login</button>
</form>
</main>
</body>
</html>
`;
}
