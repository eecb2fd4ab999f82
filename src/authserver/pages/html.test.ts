import { describe, expect, it } from 'vitest';
import { html } from './html.ts';

describe('the html template', () => {
  it('escapes every value that is not html itself, in elements and in attributes', () => {
    const name = `"><script>alert('1')</script>&`;
    expect(html`<p title="${name}">${name}</p>`.text).toBe(
      '<p title="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;</p>',
    );
  });

  it('nests without escaping twice, joins lists, and leaves out what is not there', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${undefined}${3}`.text).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>3');
  });

  it('takes an object that looks like html for no html', () => {
    const forged = JSON.parse('["<b>"]') as string[];
    expect(html`${forged}`.text).toBe('&lt;b&gt;');
  });
});
