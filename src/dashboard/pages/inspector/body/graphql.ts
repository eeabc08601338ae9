/** GraphQL requests: which operations a body or a query asks for. A look at the text, not a parser. Pure: tested without a browser. */
import { childNamed, type JsonTree, parseTree, valueOf } from './json-tree.ts';

export interface Operation {
  /** `query GetOrders`, or `query` alone. */
  readonly title: string;
  /** As written; empty: it is known by its hash alone. */
  readonly query: string;
  /** JSON; undefined: there are none. */
  readonly variables: string | undefined;
}

/** Operations of a batch that are shown. */
const MAX_OPERATIONS = 50;
/** Of a document that is looked through. */
const MAX_QUERY = 100_000;
const OPERATION = /(?:^|[\s}])(query|mutation|subscription)\b\s*([A-Za-z_]\w*)?/g;

/** Undefined: it is none. */
export function operationsIn(tree: JsonTree): readonly Operation[] | undefined {
  const root = tree.nodes[0];
  if (tree.isCut || root === undefined) return undefined;
  if (root.kind === 'object') {
    const one = operationAt(tree, 0);
    return one === undefined ? undefined : [one];
  }
  if (root.kind !== 'array' || root.children === 0) return undefined;
  const found: Operation[] = [];
  for (let at = 1; at < root.next && found.length < MAX_OPERATIONS; at = tree.nodes[at]?.next ?? root.next) {
    const one = operationAt(tree, at);
    if (one === undefined) return undefined;
    found.push(one);
  }
  return found;
}

function operationAt(tree: JsonTree, at: number): Operation | undefined {
  if (tree.nodes[at]?.kind !== 'object') return undefined;
  const member = (name: string): number | undefined => childNamed(tree, at, name);
  const text = (name: string): string | undefined => {
    const child = member(name);
    return child !== undefined && tree.nodes[child]?.kind === 'text' ? valueOf(tree, child) : undefined;
  };
  const query = text('query');
  const name = text('operationName');
  const isHashed = query === undefined && name !== undefined && member('extensions') !== undefined;
  if (!isHashed && (query === undefined || !isDocument(query))) return undefined;
  const variables = member('variables');
  const node = variables === undefined ? undefined : tree.nodes[variables];
  const hasSome = node !== undefined && node.kind === 'object' && node.children > 0;
  return {
    title: titleOf(query ?? '', name),
    query: query ?? '',
    variables: hasSome ? tree.text.slice(node.start, node.end) : undefined,
  };
}

function isDocument(query: string): boolean {
  const text = bare(query).trimStart();
  return /^(?:\{|(?:query|mutation|subscription|fragment)\b)/.test(text) && text.includes('{');
}

/** Without comments and strings, in which anything may stand. */
function bare(query: string): string {
  // A string without its end is one too: else the search for the end begins again at each quote.
  return query.slice(0, MAX_QUERY).replaceAll(/"""[^]*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n\r]*/g, ' ');
}

function titleOf(query: string, wanted: string | undefined): string {
  const found = [...bare(query).matchAll(OPERATION)].map(([, type = 'query', name]) => ({ type, name }));
  const one = found.find(({ name }) => wanted !== undefined && name === wanted) ?? found[0];
  const name = wanted || one?.name;
  const type = one?.type ?? 'query';
  return name === undefined ? type : `${type} ${name}`;
}

/** Of a request: by its body, or by the query of a GET. Empty: it is no GraphQL. */
export function operationsOf(body: string | undefined, type: string, path: string): readonly Operation[] {
  if (type === 'application/graphql' && body !== undefined)
    return [{ title: titleOf(body, undefined), query: body, variables: undefined }];
  if (body !== undefined && /[/+]json$/.test(type)) {
    const tree = parseTree(body);
    return (tree === undefined ? undefined : operationsIn(tree)) ?? [];
  }
  const at = path.indexOf('?');
  if (at < 0) return [];
  const asked = new URLSearchParams(path.slice(at + 1));
  const query = asked.get('query');
  if (query === null || !isDocument(query)) return [];
  const variables = asked.get('variables');
  return [{ title: titleOf(query, asked.get('operationName') ?? undefined), query, variables: variables ?? undefined }];
}
