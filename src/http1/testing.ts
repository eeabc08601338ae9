/**
 * Heads for the parser's tests: as whole messages, cut anywhere, and what the service would be sent. Used by tests alone.
 */
import { BAD, Head, INCOMPLETE, parseRequestHead, parseResponseHead, TARGET_TOO_LONG, TOO_LARGE } from './head.ts';

export type Verdict = 'ok' | 'bad' | 'large' | 'target' | 'more';

function verdictOf(end: number): Verdict {
  switch (end) {
    case INCOMPLETE:
      return 'more';
    case BAD:
      return 'bad';
    case TOO_LARGE:
      return 'large';
    case TARGET_TOO_LONG:
      return 'target';
    default:
      return 'ok';
  }
}

export interface Parsed {
  readonly verdict: Verdict;
  readonly head: Head;
  /** Where the head ends when it is ok. */
  readonly end: number;
}

/** Parses `text` (latin1) as it would lie in the middle of a read buffer, between other bytes. */
export function parsed(text: string, kind: 'request' | 'response' = 'request'): Parsed {
  const bytes = Buffer.from(`@@@${text}\r\n\r\n@@@`, 'latin1');
  const head = new Head();
  const parse = kind === 'request' ? parseRequestHead : parseResponseHead;
  const end = parse(bytes, 3, 3 + text.length, head);
  return { verdict: verdictOf(end), head, end: end - 3 };
}

/** The lines of a request that asks for `/` of `a.test`, with `lines` behind Host. */
export function get(...lines: string[]): string {
  return ['GET / HTTP/1.1', 'Host: a.test', ...lines, '', ''].join('\r\n');
}

/** What is left of the head when the spans to leave out are left out. */
export function kept(text: string, of: Parsed): string {
  let out = '';
  let from = 3;
  const whole = `@@@${text}`;
  for (let d = 0; d < of.head.dropCount; d++) {
    out += whole.slice(from, of.head.drops[2 * d]);
    from = of.head.drops[2 * d + 1] as number;
  }
  return out + whole.slice(from, of.end + 3);
}
