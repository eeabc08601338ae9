/** The palette: type part of a name, choose with the arrow keys, open with Enter. A combobox whose list is always open (ARIA APG). */
import { Modal, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { useEntries } from './entries.ts';
import { type Entry, matching } from './match.ts';

interface PaletteProps {
  readonly onClose: () => void;
}

export function Palette({ onClose }: PaletteProps) {
  return (
    <Modal.Root opened onClose={onClose} size="lg" yOffset="10vh" centered={false}>
      <Modal.Overlay />
      <Modal.Content aria-label="Search">
        <Modal.Body p={0}>
          <Search onClose={onClose} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

function Search({ onClose }: PaletteProps) {
  const list = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const found = matching(useEntries(), query);
  const chosen = Math.min(at, found.length - 1);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  });
  const open = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    if (entry.isDocs === true) window.open(entry.href, '_blank', 'noopener');
    else navigate(entry.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (next !== undefined && found.length > 0) setAt((next + found.length) % found.length);
    else if (event.key === 'Enter') open(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <TextInput
        data-autofocus
        size="md"
        role="combobox"
        aria-label="Search pages, tunnels, keys, members and documentation"
        aria-expanded
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${chosen}` : undefined}
        placeholder="Pages, tunnels, keys, members, documentation"
        leftSection={<IconSearch size={18} aria-hidden />}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={list} aria-label="Results" className="culvert-palette" ref={box}>
        {found.map((entry, index) => (
          <div
            key={`${entry.kind} ${entry.href} ${entry.title}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            className="culvert-palette-entry"
            onMouseMove={() => setAt(index)}
            onClick={() => open(entry)}
            onKeyDown={onKeyDown}
          >
            <span className="culvert-line">{entry.title}</span>
            <Text span size="xs" c="dimmed">
              {entry.kind}
            </Text>
          </div>
        ))}
      </div>
      <Text size="sm" c="dimmed" p="sm" role="status">
        {found.length === 0 ? `Nothing fits “${query}”.` : '↑ ↓ to choose, Enter to open, Esc to close.'}
      </Text>
    </>
  );
}
