/** The pieces of a body one below the other: events, frames, parts. Each is a line with a preview; opened, all of it. */
import { Button, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { countText } from '../../../parts/format.ts';
import { numbered } from '../section.tsx';
import { visibleText } from '../visible-text.ts';

export interface Piece {
  readonly title: string;
  /** Size, type, time: a few words. */
  readonly facts: string;
  /** The beginning of it in one line; empty: there is nothing to say. */
  readonly preview: string;
  readonly tone?: 'bad' | 'in' | 'out';
  /** Drawn when the piece is opened. */
  readonly content: () => ReactNode;
}

interface PieceListProps {
  readonly label: string;
  readonly pieces: readonly Piece[];
  /** Pieces that are not listed. */
  readonly more?: number;
}

/** Drawn at first, and with each further step. */
const STEP = 100;
const MAX_PREVIEW = 160;
/** Of a title or facts: the sender chose names, types and IDs. */
const MAX_WORDS = 300;
/** So few are opened by themselves. */
const FEW = 3;

export function PieceList({ label, pieces, more = 0 }: PieceListProps) {
  const [shown, setShown] = useState(STEP);
  return (
    <>
      <ol className="culvert-pieces" aria-label={label}>
        {numbered(pieces.slice(0, shown)).map(({ at, row }) => (
          <PieceRow key={at} piece={row} isFirstOpen={pieces.length <= FEW} />
        ))}
      </ol>
      {pieces.length > shown && (
        <Button size="xs" variant="default" onClick={() => setShown(shown + STEP)}>
          Show more ({countText(pieces.length - shown)} left)
        </Button>
      )}
      {pieces.length <= shown && more > 0 && (
        <Text size="xs" c="dimmed">
          And {countText(more)} more.
        </Text>
      )}
    </>
  );
}

function PieceRow({ piece, isFirstOpen }: { readonly piece: Piece; readonly isFirstOpen: boolean }) {
  const [isOpen, setOpen] = useState(isFirstOpen);
  const { title, facts, preview, tone, content } = piece;
  return (
    <li data-tone={tone}>
      <button type="button" className="culvert-piece" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="culvert-json-caret" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        <bdi className="culvert-piece-title">{wordsOf(title)}</bdi>
        <bdi className="culvert-piece-preview">{isOpen ? '' : visibleText(preview.slice(0, MAX_PREVIEW))}</bdi>
        <bdi className="culvert-piece-facts">{wordsOf(facts)}</bdi>
      </button>
      {isOpen && <div className="culvert-piece-content">{content()}</div>}
    </li>
  );
}

function wordsOf(text: string): string {
  return visibleText(text.length > MAX_WORDS ? `${text.slice(0, MAX_WORDS)}…` : text);
}
