/**
 * JSON as a tree: folded and opened by pointer and keyboard, searched, and its paths and values to copy. Draws the rows in sight alone. Each piece is a
 * text node: a sender's name is never markup.
 */
import { ActionIcon, Group, Text, TextInput, Tooltip } from '@mantine/core';
import { IconChevronDown, IconChevronUp, IconFold, IconFoldDown } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import { CopyIcon } from '../../../parts/copy.tsx';
import { countText } from '../../../parts/format.ts';
import { visibleText } from '../visible-text.ts';
import { JsonRow } from './json-row.tsx';
import {
  allOpen,
  findIn,
  firstOpen,
  isContainer,
  type JsonTree,
  opened,
  pathOf,
  rowsOf,
  valueOf,
} from './json-tree.ts';

/** As the sheet has it; rows that wrap are measured. */
const ROW_PX = 20;
const OVERSCAN = 10;
/** Fewer are found by looking. */
const SEARCHED = 12;
const OUTERMOST: ReadonlySet<number> = new Set([0]);

interface JsonViewProps {
  readonly tree: JsonTree;
  /** For screen readers: "Body as JSON". */
  readonly label: string;
}

export function JsonView({ tree, label }: JsonViewProps) {
  const [open, setOpen] = useState(() => firstOpen(tree));
  const [selected, setSelected] = useState<number>();
  const [wanted, setWanted] = useState('');
  const rows = useMemo(() => rowsOf(tree, open), [tree, open]);
  const found = useMemo(() => findIn(tree, wanted), [tree, wanted]);
  const show = (at: number | undefined): void => {
    if (at === undefined) return;
    setOpen(opened(tree, open, at));
    setSelected(at);
  };
  const search = (text: string): void => {
    setWanted(text);
    show(findIn(tree, text)[0]);
  };
  const setWhole = (isOpen: boolean): void => {
    setOpen(isOpen ? allOpen(tree) : OUTERMOST);
    setSelected(undefined);
  };
  return (
    <div className="culvert-json">
      {tree.nodes.length > SEARCHED && (
        <TreeTools
          label={label}
          wanted={wanted}
          found={found}
          selected={selected}
          onWanted={search}
          onShow={show}
          onWhole={setWhole}
        />
      )}
      <TreeRows
        tree={tree}
        label={label}
        rows={rows}
        open={open}
        wanted={wanted}
        selected={selected}
        onSelect={setSelected}
        onToggle={(at) => setOpen(toggled(open, at))}
      />
      {selected !== undefined && <Selected tree={tree} at={selected} />}
      {tree.isCut && (
        <Text size="xs" c="dimmed">
          The document goes on, but its end is not shown here.
        </Text>
      )}
    </div>
  );
}

function toggled(open: ReadonlySet<number>, at: number): ReadonlySet<number> {
  const other = new Set(open);
  if (!other.delete(at)) other.add(at);
  return other;
}

interface ToolsProps {
  readonly label: string;
  readonly wanted: string;
  readonly found: readonly number[];
  readonly selected: number | undefined;
  readonly onWanted: (text: string) => void;
  readonly onShow: (at: number | undefined) => void;
  readonly onWhole: (isOpen: boolean) => void;
}

function TreeTools({ label, wanted, found, selected, onWanted, onShow, onWhole }: ToolsProps) {
  const place = selected === undefined ? -1 : found.indexOf(selected);
  const step = (by: number): void => onShow(found[(place + by + found.length) % found.length]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && found.length > 0) step(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape' && wanted !== '') onWanted('');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Group gap={4} wrap="nowrap">
      <TextInput
        size="xs"
        className="culvert-grow"
        aria-label={`Search in ${label.toLowerCase()}`}
        placeholder="Search names and values"
        maxLength={200}
        value={wanted}
        onChange={({ currentTarget }) => onWanted(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {wanted !== '' && (
        <Text size="xs" c="dimmed" role="status" className="culvert-nowrap">
          {found.length === 0 ? 'No matches' : `${place + 1} of ${countText(found.length)}`}
        </Text>
      )}
      {found.length > 1 && (
        <>
          <Tool label="Previous match" icon={IconChevronUp} onClick={() => step(-1)} />
          <Tool label="Next match" icon={IconChevronDown} onClick={() => step(1)} />
        </>
      )}
      <Tool label="Expand all" icon={IconFoldDown} onClick={() => onWhole(true)} />
      <Tool label="Collapse all" icon={IconFold} onClick={() => onWhole(false)} />
    </Group>
  );
}

interface ToolProps {
  readonly label: string;
  readonly icon: typeof IconFold;
  readonly onClick: () => void;
}

function Tool({ label, icon: Icon, onClick }: ToolProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  );
}

interface RowsProps {
  readonly tree: JsonTree;
  readonly label: string;
  /** Nodes in sight. */
  readonly rows: readonly number[];
  readonly open: ReadonlySet<number>;
  readonly wanted: string;
  readonly selected: number | undefined;
  readonly onSelect: (at: number) => void;
  readonly onToggle: (at: number) => void;
}

function TreeRows({ tree, label, rows, open, wanted, selected, onSelect, onToggle }: RowsProps) {
  const frame = useRef<HTMLDivElement>(null);
  const id = useId();
  // oxlint-disable-next-line react/incompatible-library -- its functions are called where they are made; no compiler keeps them
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index] ?? index,
    overscan: OVERSCAN,
  });
  const place = selected === undefined ? -1 : rows.indexOf(selected);
  const { scrollToIndex } = virtual;
  useEffect(() => {
    if (place >= 0) scrollToIndex(place);
  }, [place, scrollToIndex]);
  const items = virtual.getVirtualItems();
  return (
    <div
      ref={frame}
      className="culvert-body culvert-json-frame"
      role="tree"
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={items.some(({ index }) => index === place) ? `${id}-${selected}` : undefined}
      onClick={({ target }) => {
        const row = target instanceof Element ? target.closest<HTMLElement>('[data-index]') : null;
        const at = rows[Number(row?.dataset['index'] ?? -1)];
        if (at === undefined) return;
        onSelect(at);
        if ((tree.nodes[at]?.children ?? 0) > 0) onToggle(at);
      }}
      onKeyDown={(event) => {
        const move = moveOf(event.key, { tree, rows, open, selected });
        if (move === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        if (move.toggle !== undefined) onToggle(move.toggle);
        if (move.select !== undefined) onSelect(move.select);
      }}
    >
      <div role="presentation" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {items.map(({ index, key, start }) => {
          const at = rows[index] as number;
          const node = tree.nodes[at];
          if (node === undefined) return null;
          return (
            <div
              key={key}
              id={`${id}-${at}`}
              ref={virtual.measureElement}
              data-index={index}
              role="treeitem"
              aria-level={node.depth + 1}
              aria-selected={at === selected}
              {...(node.children > 0 && { 'aria-expanded': open.has(at) })}
              className="culvert-json-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              <JsonRow tree={tree} at={at} isOpen={open.has(at)} wanted={wanted} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface Move {
  readonly select?: number;
  readonly toggle?: number;
}

/** What a key does in a tree, as the authoring practices of ARIA have it. Undefined: nothing. */
function moveOf(
  key: string,
  { tree, rows, open, selected }: Pick<RowsProps, 'tree' | 'rows' | 'open' | 'selected'>,
): Move | undefined {
  const place = selected === undefined ? -1 : rows.indexOf(selected);
  const to = (index: number): Move => {
    const at = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    return at === undefined ? {} : { select: at };
  };
  if (key === 'ArrowDown') return to(place + 1);
  if (key === 'ArrowUp') return to(place - 1);
  if (key === 'Home') return to(0);
  if (key === 'End') return to(rows.length - 1);
  const node = selected === undefined ? undefined : tree.nodes[selected];
  if (selected === undefined || node === undefined) return undefined;
  const canOpen = isContainer(node) && node.children > 0;
  if (key === 'ArrowRight') return canOpen && !open.has(selected) ? { toggle: selected } : to(place + 1);
  if (key === 'ArrowLeft') {
    if (canOpen && open.has(selected)) return { toggle: selected };
    return node.parent < 0 ? {} : { select: node.parent };
  }
  return key === 'Enter' && canOpen ? { toggle: selected } : undefined;
}

/** Longer ones are copied, not read here. */
const MAX_PATH = 300;

function Selected({ tree, at }: { readonly tree: JsonTree; readonly at: number }) {
  const path = pathOf(tree, at);
  const shown = path.length > MAX_PATH ? `…${path.slice(-MAX_PATH)}` : path;
  return (
    <Group gap={4} wrap="nowrap" className="culvert-json-path" role="group" aria-label="Selected value">
      <bdi className="culvert-grow">{visibleText(shown)}</bdi>
      <CopyIcon value={path} what="JSON path" />
      <CopyValue tree={tree} at={at} />
    </Group>
  );
}

function CopyValue({ tree, at }: { readonly tree: JsonTree; readonly at: number }) {
  const value = useMemo(() => valueOf(tree, at), [tree, at]);
  return <CopyIcon value={value} what="value" />;
}
