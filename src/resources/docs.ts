import { fieldTable, ruleList } from './field-table.ts';
import { KINDS, type KindName, kindOf } from './kinds/all.ts';

/** The page of a kind, `docs/resources/<kind>.md`. */
export function kindPage(name: KindName): string {
  const kind = kindOf(name);
  const rules = ruleList(name);
  return [
    `# ${name}`,
    kind.about,
    apiLine(name),
    '## Example',
    `\`\`\`yaml\n${kind.example.trimEnd()}\n\`\`\``,
    '## Fields',
    'A star marks required fields. Unknown fields are errors.',
    fieldTable(name),
    ...(rules === '' ? [] : ['## Rules', 'Between fields; the validator reports each at the field it names.', rules]),
  ].join('\n\n');
}

/** `docs/resources/README.md`. */
export function kindIndex(): string {
  const rows = KINDS.map((name) => `| [${name}](${name.toLowerCase()}.md) | ${summaryOf(name)} |`);
  return [
    '# Resources',
    `Everything Sallyport serves is declared in resources: YAML or JSON documents with \`apiVersion\`, \`kind\` and
\`metadata.name\`. A resource refers to others of its own namespace by name. \`metadata.namespace\` is \`default\` when left out.`,
    ['| Kind | What it is |', '|---|---|', ...rows].join('\n'),
    `Manifests of \`toolhive.stacklok.dev\` (\`v1alpha1\` and \`v1beta1\`) load unchanged as long as they use these kinds and
fields. What the API server adds (\`status\`, \`metadata.uid\` and the like) is accepted and ignored, so the output of
\`kubectl get -o yaml\` loads too.`,
    `For help while typing, point your editor at [the JSON Schemas](../../schemas): with the YAML extension of Red Hat, the line
\`# yaml-language-server: $schema=…/schemas/all.json\` at the top of a file does it. For a cluster there are
[CustomResourceDefinitions](../../deploy/crds).`,
  ].join('\n\n');
}

function summaryOf(name: KindName): string {
  return kindOf(name).about.split('\n\n')[0]?.replaceAll('\n', ' ') ?? '';
}

function apiLine(name: KindName): string {
  const [ours, ...others] = kindOf(name).apiVersions.map((version) => `\`${version}\``);
  return others.length === 0 ? `API: ${ours}.` : `API: ${ours}; ${others.join(' and ')} are read as well.`;
}
