import { type HeaderParam, headerParamsOf } from '../../mcp/index.ts';
import type { AggregationPlan, ToolsPlan } from '../../plan/index.ts';
import type { Backend, Item, Listing } from '../call.ts';
import { assignNames, type Candidate } from './naming.ts';
import { shownTool } from './tool-rules.ts';
import { createUriMatcher, type UriMatcher } from './uri-template.ts';

/** Where a call for an outside name goes. */
export interface Route {
  readonly backend: Backend;
  /** What the backend itself calls it. */
  readonly name: string;
  /** Arguments that a client of the stateless revision repeats as headers. */
  readonly headerParams: readonly HeaderParam[];
}

/** Everything the backends offer, under outside names. */
export interface View {
  readonly listing: Listing;
  readonly tools: ReadonlyMap<string, Route>;
  readonly prompts: ReadonlyMap<string, Route>;
  readonly resources: ReadonlyMap<string, Backend>;
  readonly templates: readonly { readonly matches: UriMatcher; readonly template: string; readonly backend: Backend }[];
  readonly remarks: readonly string[];
}

type Many = Extract<AggregationPlan, { kind: 'many' }>;

/** Merges what the backends list. Backends come in a fixed order, so the same input always gives the same view. */
export function mergeListings(backends: readonly Backend[], plan: Many): View {
  const remarks: string[] = [];
  const tools = nameTools(backends, plan, remarks);
  const prompts = namePrompts(backends, plan, remarks);
  const resources = firstWins(backends, 'resources', 'uri', remarks);
  const templates = firstWins(backends, 'templates', 'uriTemplate', remarks);
  return {
    listing: {
      tools: tools.map(({ item }) => item),
      prompts: prompts.map(({ item }) => item),
      resources: resources.map(({ item }) => item),
      templates: templates.map(({ item }) => item),
    },
    tools: new Map(tools.map(({ item, route }) => [String(item.name), route])),
    prompts: new Map(prompts.map(({ item, route }) => [String(item.name), route])),
    resources: new Map(resources.map(({ item, backend }) => [String(item.uri), backend])),
    templates: templates.map(({ item, backend }) => {
      const template = String(item.uriTemplate);
      return { template, backend, matches: createUriMatcher(template) };
    }),
    remarks,
  };
}

interface Offered {
  readonly item: Item;
  readonly route: Route;
}

function nameTools(backends: readonly Backend[], plan: Many, remarks: string[]): readonly Offered[] {
  const candidates = backends.flatMap((backend) => {
    const rules = plan.tools.get(backend.name);
    if (plan.offerNone || (!rules && !plan.offerOthers)) return [];
    return (backend.listing()?.tools ?? []).flatMap((tool) => offer(backend, tool, rules));
  });
  const naming = assignNames(candidates, plan.conflicts);
  remarks.push(...naming.remarks);
  return naming.named.map(({ name, candidate }) => ({ ...candidate.entry, item: { ...candidate.entry.item, name } }));
}

function offer(backend: Backend, tool: Item, rules: ToolsPlan | undefined): readonly Candidate<Offered>[] {
  const item = shownTool(tool, rules);
  if (!item) return [];
  const route = { backend, name: String(tool.name), headerParams: headerParamsOf(tool.inputSchema) ?? [] };
  return [{ backend: backend.name, name: String(item.name), entry: { item, route } }];
}

function namePrompts(backends: readonly Backend[], { conflicts }: Many, remarks: string[]): readonly Offered[] {
  const candidates = backends.flatMap((backend) =>
    (backend.listing()?.prompts ?? []).map((item): Candidate<Offered> => {
      const name = String(item.name);
      return { backend: backend.name, name, entry: { item, route: { backend, name, headerParams: [] } } };
    }),
  );
  const naming = assignNames(candidates, conflicts);
  remarks.push(...naming.remarks);
  return naming.named.map(({ name, candidate }) => ({ ...candidate.entry, item: { ...candidate.entry.item, name } }));
}

/** URIs are not renamed, since they also occur inside results: of two equal ones the first backend's stays. */
function firstWins(backends: readonly Backend[], kind: 'resources' | 'templates', key: string, remarks: string[]) {
  const found = new Map<string, { readonly item: Item; readonly backend: Backend }>();
  for (const backend of backends) {
    for (const item of backend.listing()?.[kind] ?? []) {
      const uri = String(item[key]);
      const taken = found.get(uri);
      if (taken) remarks.push(`${uri} of ${backend.name} gives way to that of ${taken.backend.name}`);
      else found.set(uri, { item, backend });
    }
  }
  return [...found.values()];
}
