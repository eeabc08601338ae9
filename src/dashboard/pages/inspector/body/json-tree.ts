/**
 * JSON as a tree of nodes that point into the sender's own text: numbers, repeated names and escapes stay as they came. A node costs a few numbers, so
 * that a megabyte of JSON can be folded and searched. Pure: tested without a browser.
 */
import { setOutJson } from './json-text.ts';

type JsonKind = 'object' | 'array' | 'text' | 'number' | 'word';

/** Nodes in the order of the text; all of it by the number of a node. */
export interface JsonTree {
  readonly text: string;
  readonly nodes: readonly JsonNode[];
  /** The text ends before its value does, or there are more nodes than are kept. */
  readonly isCut: boolean;
}

export interface JsonNode {
  readonly kind: JsonKind;
  readonly parent: number;
  readonly depth: number;
  /** Place among the children of its parent. */
  readonly at: number;
  /** Of its name, quotes included; -1: it has none. */
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly start: number;
  end: number;
  /** The first node behind it and all in it. */
  next: number;
  children: number;
}

interface ParseOptions {
  /** The end of the text may be missing. */
  readonly mayBeCut?: boolean;
}

/** More are not kept: a page has to hold them all. */
export const MAX_NODES = 200_000;
const TOKEN = /[\t\n\r ]*(?:("[^"\\]*(?:\\.[^"\\]*)*")|([[\]{},:])|([^\s[\]{},:"]+))/y;
const SCALAR = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Undefined: it is no JSON. */
export function parseTree(text: string, { mayBeCut = false }: ParseOptions = {}): JsonTree | undefined {
  if (!isJson(text) && !mayBeCut) return undefined;
  return new TreeReader(text).read(mayBeCut);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Follows the brackets with a stack of its own: a text of brackets alone must not end the page's stack. */
class TreeReader {
  readonly #text: string;
  readonly #nodes: JsonNode[] = [];
  /** Numbers of the values that are open. */
  readonly #open: number[] = [];
  #name: readonly [start: number, end: number] | undefined;
  /** What may come next; `after`: a comma or a closing bracket. */
  #state: 'value' | 'name' | 'colon' | 'after' = 'value';
  /** Just behind an opening bracket: it may close. */
  #isFresh = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(mayBeCut: boolean): JsonTree | undefined {
    const token = new RegExp(TOKEN);
    let end = 0;
    for (let found = token.exec(this.#text); found !== null; found = token.exec(this.#text)) {
      const word = found[1] ?? found[2] ?? found[3] ?? '';
      if (this.#nodes.length >= MAX_NODES) return this.#tree(true);
      if (!this.#put(word, found.index + found[0].length - word.length)) {
        // A word at the end of a cut text may be half of one.
        const isHalf = found[3] !== undefined && this.#state === 'value' && token.lastIndex >= this.#text.length;
        return mayBeCut && isHalf && this.#nodes.length > 0 ? this.#tree(true) : undefined;
      }
      end = token.lastIndex;
    }
    const rest = this.#text.slice(end).trim();
    const isWhole = this.#open.length === 0 && this.#nodes.length > 0 && rest === '';
    if (isWhole) return this.#tree(false);
    // What no token begins with is a string without its end.
    return mayBeCut && this.#nodes.length > 0 && (rest === '' || rest.startsWith('"')) ? this.#tree(true) : undefined;
  }

  #tree(isCut: boolean): JsonTree {
    for (const open of this.#open) this.#close(open, this.#text.length);
    return { text: this.#text, nodes: this.#nodes, isCut };
  }

  /** False: it may not stand there. */
  #put(token: string, at: number): boolean {
    const wasFresh = this.#isFresh;
    this.#isFresh = false;
    if (token === '}' || token === ']') return this.#end(token, at, wasFresh);
    if (token === ',') return this.#comma();
    if (token === ':') return this.#colon();
    if (this.#state === 'name') return this.#takeName(token, at);
    if (this.#state !== 'value') return false;
    if (token === '{' || token === '[') return this.#begin(token, at);
    if (!token.startsWith('"') && !SCALAR.test(token)) return false;
    this.#add(token.startsWith('"') ? 'text' : /^[-\d]/.test(token) ? 'number' : 'word', at, at + token.length);
    this.#state = 'after';
    return true;
  }

  #begin(token: string, at: number): boolean {
    this.#add(token === '{' ? 'object' : 'array', at, at + 1);
    this.#open.push(this.#nodes.length - 1);
    this.#state = token === '{' ? 'name' : 'value';
    this.#isFresh = true;
    return true;
  }

  #end(token: string, at: number, wasFresh: boolean): boolean {
    const open = this.#open.at(-1);
    if (open === undefined || !(wasFresh || this.#state === 'after')) return false;
    if (this.#nodes[open]?.kind !== (token === '}' ? 'object' : 'array')) return false;
    this.#open.pop();
    this.#close(open, at + 1);
    this.#state = 'after';
    return true;
  }

  #close(open: number, end: number): void {
    const node = this.#nodes[open];
    if (node === undefined) return;
    node.end = end;
    node.next = this.#nodes.length;
  }

  #comma(): boolean {
    const open = this.#open.at(-1);
    if (this.#state !== 'after' || open === undefined) return false;
    this.#state = this.#nodes[open]?.kind === 'object' ? 'name' : 'value';
    return true;
  }

  #colon(): boolean {
    if (this.#state !== 'colon') return false;
    this.#state = 'value';
    return true;
  }

  #takeName(token: string, at: number): boolean {
    if (!token.startsWith('"')) return false;
    this.#name = [at, at + token.length];
    this.#state = 'colon';
    return true;
  }

  #add(kind: JsonKind, start: number, end: number): void {
    const parent = this.#open.at(-1) ?? -1;
    const above = this.#nodes[parent];
    const [nameStart, nameEnd] = this.#name ?? [-1, -1];
    this.#name = undefined;
    const at = above === undefined ? 0 : above.children++;
    const depth = above === undefined ? 0 : above.depth + 1;
    this.#nodes.push({
      kind,
      parent,
      depth,
      at,
      nameStart,
      nameEnd,
      start,
      end,
      next: this.#nodes.length + 1,
      children: 0,
    });
  }
}

export function isContainer({ kind }: JsonNode): boolean {
  return kind === 'object' || kind === 'array';
}

/** Numbers of the nodes that are in sight: what lies in a closed one is not. */
export function rowsOf({ nodes }: JsonTree, open: ReadonlySet<number>): number[] {
  const rows: number[] = [];
  for (let at = 0; at < nodes.length; ) {
    rows.push(at);
    at = open.has(at) ? at + 1 : (nodes[at] as JsonNode).next;
  }
  return rows;
}

/** Rows that are opened by themselves. */
const FIRST_ROWS = 300;

/** What is open at first: level by level, as long as it stays readable. The outermost always is. */
export function firstOpen({ nodes }: JsonTree): ReadonlySet<number> {
  const open = new Set<number>();
  let rows = 1;
  const queue = nodes.length > 0 ? [0] : [];
  // Grows while it is read.
  for (const at of queue) {
    const node = nodes[at] as JsonNode;
    if (!isContainer(node) || node.children === 0) continue;
    if (at > 0 && rows + node.children > FIRST_ROWS) break;
    open.add(at);
    rows += node.children;
    for (let child = at + 1; child < node.next && queue.length < FIRST_ROWS; child = (nodes[child] as JsonNode).next)
      queue.push(child);
  }
  return open;
}

export function allOpen({ nodes }: JsonTree): ReadonlySet<number> {
  return new Set(nodes.flatMap((node, at) => (node.children > 0 ? [at] : [])));
}

/** `open`, and all around a node. */
export function opened({ nodes }: JsonTree, open: ReadonlySet<number>, at: number): ReadonlySet<number> {
  const wider = new Set(open);
  for (let up = nodes[at]?.parent ?? -1; up >= 0; up = nodes[up]?.parent ?? -1) wider.add(up);
  return wider;
}

/** Nodes whose name or value holds this, in either case; brackets are no value. */
export function findIn({ text, nodes }: JsonTree, wanted: string): number[] {
  if (wanted === '') return [];
  const needle = new RegExp(wanted.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'gi');
  const found: number[] = [];
  let at = 0;
  for (const { index } of text.matchAll(needle)) {
    while (at + 1 < nodes.length && beginOf(nodes[at + 1] as JsonNode) <= index) at++;
    const node = nodes[at];
    if (node !== undefined && found.at(-1) !== at && isWithin(node, index)) found.push(at);
  }
  return found;
}

function beginOf({ nameStart, start }: JsonNode): number {
  return nameStart < 0 ? start : nameStart;
}

function isWithin(node: JsonNode, index: number): boolean {
  const isInName = node.nameStart >= 0 && index > node.nameStart && index < node.nameEnd;
  return isInName || (!isContainer(node) && index >= node.start && index < node.end);
}

/** The name as it came, without its quotes; in a list, its place; of the outermost, nothing. */
export function nameOf({ text, nodes }: JsonTree, at: number): string {
  const node = nodes[at];
  if (node === undefined || node.parent < 0) return '';
  return node.nameStart < 0 ? String(node.at) : text.slice(node.nameStart + 1, node.nameEnd - 1);
}

/** `$.items[0].sku`, as JSONPath has it. */
export function pathOf(tree: JsonTree, at: number): string {
  const steps: string[] = [];
  for (let one = at; one > 0; one = tree.nodes[one]?.parent ?? -1) {
    const node = tree.nodes[one];
    if (node === undefined) break;
    if (node.nameStart < 0) steps.push(`[${node.at}]`);
    else steps.push(stepOf(tree.text.slice(node.nameStart, node.nameEnd)));
  }
  return `$${steps.toReversed().join('')}`;
}

/** `quoted`: a name as it came. */
function stepOf(quoted: string): string {
  const name = quoted.slice(1, -1);
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${quoted}]`;
}

/** Longer values are copied as they came. */
const MAX_SET_OUT = 100_000;

/** A value to take along: a text without quotes and escapes, the rest as it is set out. */
export function valueOf({ text, nodes }: JsonTree, at: number): string {
  const node = nodes[at];
  if (node === undefined) return '';
  const own = text.slice(node.start, node.end);
  if (node.kind === 'text') return unquoted(own);
  if (!isContainer(node) || own.length > MAX_SET_OUT) return own;
  const parts = setOutJson(own);
  return parts === undefined || parts.isCut ? own : parts.pieces.map((piece) => piece.text).join('');
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    // Of a text that is cut, which was never checked as a whole: as it came.
    return text.slice(1, -1);
  }
}

/** The number of the child of this name in an object; undefined: there is none. */
export function childNamed(tree: JsonTree, parent: number, name: string): number | undefined {
  const end = tree.nodes[parent]?.next ?? 0;
  for (let child = parent + 1; child < end; child = tree.nodes[child]?.next ?? end)
    if (tree.nodes[child]?.nameStart !== -1 && nameOf(tree, child) === name) return child;
  return undefined;
}
