/** One row of a JSON tree: its name, and its value or how much is in it. */
import { memo } from 'react';
import { bytesText, countText } from '../../../parts/format.ts';
import { visibleText } from '../visible-text.ts';
import { isContainer, type JsonNode, type JsonTree, nameOf } from './json-tree.ts';

/** Of a value in a row; the whole of it is copied, or read as raw text. */
const MAX_VALUE = 1_000;
const MAX_NAME = 200;
/** Deeper rows stand no further to the right. */
const MAX_INDENT = 24;

interface RowProps {
  readonly tree: JsonTree;
  readonly at: number;
  readonly isOpen: boolean;
  /** What is searched for, to be marked. */
  readonly wanted: string;
}

export const JsonRow = memo(({ tree, at, isOpen, wanted }: RowProps) => {
  const node = tree.nodes[at];
  if (node === undefined) return null;
  const isName = node.nameStart >= 0;
  return (
    <div className="culvert-json-line" style={{ paddingLeft: Math.min(node.depth, MAX_INDENT) * 14 }}>
      <span className="culvert-json-caret" aria-hidden="true">
        {node.children === 0 ? '' : isOpen ? '▾' : '▸'}
      </span>
      <span className="culvert-json-text">
        {node.parent >= 0 && (
          <>
            <bdi data-kind={isName ? 'name' : 'place'}>
              <Marked text={cut(nameOf(tree, at), MAX_NAME)} wanted={isName ? wanted : ''} />
            </bdi>
            {': '}
          </>
        )}
        <Value tree={tree} node={node} wanted={wanted} />
      </span>
    </div>
  );
});

function Value({ tree, node, wanted }: { readonly tree: JsonTree; readonly node: JsonNode; readonly wanted: string }) {
  if (isContainer(node)) return <span data-kind="size">{sizeText(node)}</span>;
  const own = tree.text.slice(node.start, Math.min(node.end, node.start + MAX_VALUE));
  const left = node.end - node.start - own.length;
  return (
    <>
      <bdi data-kind={node.kind}>
        <Marked text={own} wanted={wanted} />
      </bdi>
      {left > 0 && <span data-kind="size"> … {bytesText(left)} more</span>}
    </>
  );
}

function sizeText({ kind, children }: JsonNode): string {
  if (kind === 'array')
    return children === 0 ? '[]' : `[ ${countText(children)} ${children === 1 ? 'item' : 'items'} ]`;
  return children === 0 ? '{}' : `{ ${countText(children)} ${children === 1 ? 'field' : 'fields'} }`;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Text, with what is searched for marked where it begins first. */
function Marked({ text, wanted }: { readonly text: string; readonly wanted: string }) {
  const at = wanted === '' ? -1 : text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at < 0) return visibleText(text);
  return (
    <>
      {visibleText(text.slice(0, at))}
      <mark>{visibleText(text.slice(at, at + wanted.length))}</mark>
      {visibleText(text.slice(at + wanted.length))}
    </>
  );
}
