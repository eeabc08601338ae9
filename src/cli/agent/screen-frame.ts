/**
 * What the live screen shows, as a pure function of the agent's view and the size of the terminal. Drawn by screen.ts.
 */
import type { AgentView, RequestView } from '../../agent/events.ts';
import { crop, type Line, paint, type Style, span, widthOf } from '../terminal/paint.ts';
import { type Row, rowsOf } from './screen-rows.ts';

export interface FrameInput {
  readonly view: AgentView;
  /** Newest last. */
  readonly requests: readonly RequestView[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** What the user should know as long as the agent runs. */
  readonly warning: string | undefined;
  /** Address of the local inspector. */
  readonly page?: string | undefined;
  /** Last line, instead of the hint how to stop. */
  readonly notice: string | undefined;
}

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
  readonly unicode: boolean;
}

interface Glyphs {
  readonly on: string;
  readonly off: string;
  readonly arrow: string;
  readonly more: string;
  readonly dot: string;
}

const UNICODE: Glyphs = { on: '●', off: '○', arrow: '→', more: '…', dot: '·' };
const ASCII: Glyphs = { on: '*', off: 'o', arrow: '->', more: '..', dot: '-' };
/** More recent requests than this are no overview any more, however tall the terminal is. */
const MAX_REQUESTS = 15;
const MARGIN = 2;
/** On a narrower terminal the path needs the room of the time. */
const ROOMY_COLUMNS = 64;

/** The screen as text, at most `rows - 1` lines of at most `columns` cells. */
export function renderFrame(input: FrameInput, size: FrameSize): string {
  const glyphs = size.unicode ? UNICODE : ASCII;
  const head = [...statusLines(input, size, glyphs), []];
  const foot: Line[] = [[], footLine(input, glyphs)];
  // One row is left free: a frame as tall as the terminal scrolls it.
  const room = size.rows - 1 - head.length - foot.length;
  const tunnels = fit(tunnelLines(input, size, glyphs), room);
  const requests = requestLines(input, size, room - tunnels.length - 1);
  const lines = [...head, ...tunnels, ...(requests.length > 0 ? [[], ...requests] : []), ...foot];
  return lines
    .slice(0, Math.max(1, size.rows - 1))
    .map((line) => paint(crop(line, size.columns, glyphs.more), size.color))
    .join('\n');
}

function footLine({ notice, page }: FrameInput, glyphs: Glyphs): Line {
  if (notice !== undefined || page === undefined) return [span(notice ?? 'Ctrl-C to stop', 'dim')];
  return [span('Inspector: ', 'dim'), span(page, 'cyan'), span(` ${glyphs.dot} Ctrl-C to stop`, 'dim')];
}

function statusLines(input: FrameInput, size: FrameSize, glyphs: Glyphs): Line[] {
  const { view, now } = input;
  const state = stateOf(view, now);
  const mark = view.state === 'online' ? glyphs.on : glyphs.off;
  const left = [span('culvert', 'bold'), span('  '), span(`${mark} ${state.text}`, state.style)];
  const facts = [
    view.state === 'online' && view.rttMs !== undefined ? `latency ${formatMs(view.rttMs)}` : undefined,
    view.account,
    hostOf(view.server),
  ].filter((fact) => fact !== undefined);
  const right = span(facts.join(` ${glyphs.dot} `), 'dim');
  const gap = size.columns - widthOf(left) - widthOf([right]);
  const oneLine = gap >= 3;
  const lines: Line[] = oneLine ? [[...left, span('   '), right]] : [left, [span('  '), right]];
  // At the end the cause is said on standard error, where it stays.
  if (view.cause !== undefined && (view.state === 'waiting' || view.state === 'connecting'))
    lines.push(
      ...broken([span(view.cause, 'dim')], size.columns - MARGIN).map((line) => [span(' '.repeat(MARGIN)), ...line]),
    );
  if (input.warning !== undefined) lines.push([span('  '), span(input.warning, 'yellow')]);
  return lines;
}

function stateOf(view: AgentView, now: number): { text: string; style: Style } {
  switch (view.state) {
    case 'online':
      return { text: 'online', style: 'green' };
    case 'connecting':
      return { text: 'connecting', style: 'yellow' };
    case 'waiting': {
      const seconds = Math.max(0, Math.ceil(((view.retryAt ?? now) - now) / 1000));
      return { text: `offline, retrying in ${seconds} s`, style: 'yellow' };
    }
    case 'draining':
      return { text: `stopping, ${view.inFlight} still in flight`, style: 'yellow' };
    case 'stopped':
      return { text: 'stopped', style: 'red' };
    default:
      return view.state satisfies never;
  }
}

function tunnelLines({ view, now }: FrameInput, size: FrameSize, glyphs: Glyphs): Line[] {
  const rows = rowsOf(view, { now, dot: glyphs.dot, arrow: glyphs.arrow });
  const longest = Math.max(...rows.map(({ label }) => label.length));
  const widest = Math.max(...rows.map(({ target }) => target.length));
  const wide = MARGIN + longest + 2 + glyphs.arrow.length + 1 + widest <= size.columns;
  const indent = span(' '.repeat(MARGIN + 2));
  return rows.flatMap((row) => [
    ...(wide ? [oneLine(row, longest, glyphs)] : stacked(row, size.columns, glyphs)),
    ...row.remarks.flatMap((remark) => broken(remark, size.columns - MARGIN - 2)).map((remark) => [indent, ...remark]),
  ]);
}

/** A remark of one piece that is too long goes on in further lines; its end may be what helps. */
function broken(remark: Line, columns: number): Line[] {
  const [only, ...others] = remark;
  if (only === undefined || others.length > 0 || widthOf(remark) <= columns) return [remark];
  const lines: string[] = [];
  for (const word of only.text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((text) => [span(text, ...only.styles)]);
}

function oneLine({ label, styles, target }: Row, longest: number, glyphs: Glyphs): Line {
  return [
    span(' '.repeat(MARGIN)),
    span(label, ...styles),
    span(`${' '.repeat(longest - label.length)}  ${glyphs.arrow} `, 'dim'),
    span(target),
  ];
}

/** For a narrow terminal. A URL is what people copy: it goes on in the next line rather than lose its end. */
function stacked({ label, styles, target }: Row, columns: number, glyphs: Glyphs): Line[] {
  const step = Math.max(1, columns - MARGIN);
  const pieces: Line[] = [];
  for (let at = 0; at < label.length; at += step) {
    pieces.push([span(' '.repeat(MARGIN)), span(label.slice(at, at + step), ...styles)]);
  }
  return [...pieces, [span(' '.repeat(MARGIN)), span(`${glyphs.arrow} `, 'dim'), span(target)]];
}

/** What fits of many tunnels, with a line that counts the rest. */
function fit(lines: Line[], room: number): Line[] {
  if (lines.length <= room || room < 1) return lines.slice(0, Math.max(0, room));
  return [...lines.slice(0, room - 1), [span(`  and ${lines.length - room + 1} more lines`, 'dim')]];
}

function requestLines({ requests, view }: FrameInput, size: FrameSize, room: number): Line[] {
  const count = Math.min(MAX_REQUESTS, room);
  if (count < 1 || view.tunnels.length === 0) return [];
  if (requests.length === 0) {
    return view.state === 'online' ? [[span('  no requests yet: open the public URL', 'dim')]] : [];
  }
  const roomy = size.columns >= ROOMY_COLUMNS;
  const many = view.tunnels.length > 1;
  return requests
    .slice(-count)
    .map((request) => [
      span(' '.repeat(MARGIN)),
      ...(roomy ? [span(`${formatTime(request.at)}  `, 'dim')] : []),
      span(String(request.status), statusStyle(request.status)),
      ...wouldBe(request),
      span(formatMs(request.ms).padStart(9), 'dim'),
      span(`  ${request.method.padEnd(roomy ? 6 : 4)} `),
      ...(many ? [span(`${request.tunnel}  `, 'dim')] : []),
      span(request.path),
    ]);
}

/** What a tried action of the policy says of it. */
function wouldBe({ dryRun }: RequestView): Line {
  return dryRun === undefined ? [] : [span(` (would be ${dryRun.status} ${dryRun.code})`, 'yellow')];
}

function statusStyle(status: number): Style {
  if (status >= 500) return 'red';
  if (status >= 400) return 'yellow';
  return status >= 300 ? 'cyan' : 'green';
}

function formatMs(ms: number): string {
  if (ms < 10) return `${Math.max(0.1, ms).toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function formatTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

function hostOf(server: string): string {
  return URL.parse(server)?.host ?? server;
}
