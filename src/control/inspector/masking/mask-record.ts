/** Masks one record by the rules of its tunnel. Called by record-masks.ts, before the record is stored or shown live. */
import type { InspectedRequest, MaskedPart } from '../../../plane/inspection.ts';
import { MASK, readHead, valueOf } from '../../core/rules/recorded-head.ts';
import { maskBody } from './body-mask.ts';
import { maskQuery } from './fields.ts';
import type { MaskRules } from './rules.ts';

/** Their values are addresses, in which the query of an earlier request may stand. */
const ADDRESSES = new Set(['referer', 'location', 'content-location']);

/** What was masked, each once. */
class Marks {
  readonly #parts = new Map<string, MaskedPart>();

  add(part: MaskedPart): void {
    this.#parts.set(`${part.side} ${part.kind} ${part.name}`, part);
  }

  get list(): MaskedPart[] {
    return [...this.#parts.values()];
  }
}

type Side = MaskedPart['side'];

/** The record itself where nothing of it is masked. */
export function maskRecord(record: InspectedRequest, rules: MaskRules): InspectedRequest {
  const marks = new Marks();
  const target = maskTarget(record.target, rules, marks);
  const requestHead = maskHead(record.requestHead, 'request', { rules, marks });
  const responseHead = record.responseHead && maskHead(record.responseHead, 'response', { rules, marks });
  const trailers = maskLines(record.trace.trailers ?? '', 'response', { rules, marks });
  const request = maskSide(record.requestHead, record.requestBody, rules);
  const response = maskSide(record.responseHead, record.responseBody, rules);
  for (const [side, masked] of [
    ['request', request],
    ['response', response],
  ] as const) {
    for (const { kind, name } of masked?.hit ?? []) marks.add({ side, kind, name });
    if (masked?.isCut === true) marks.add({ side, kind: 'body', name: '' });
  }
  const masked = marks.list;
  if (masked.length === 0) return record;
  return {
    ...record,
    target,
    requestHead,
    responseHead,
    requestBody: request?.bytes ?? record.requestBody,
    requestBodyTruncated: record.requestBodyTruncated || request?.isCut === true,
    responseBody: response?.bytes ?? record.responseBody,
    responseBodyTruncated: record.responseBodyTruncated || response?.isCut === true,
    trace: { ...record.trace, ...(trailers === '' ? {} : { trailers }), masked },
  };
}

interface Work {
  readonly rules: MaskRules;
  readonly marks: Marks;
}

function maskTarget(target: string, { queries }: MaskRules, marks: Marks): string {
  const { text, hit } = maskQuery(target, queries);
  for (const name of hit) marks.add({ side: 'request', kind: 'query', name });
  return text;
}

function maskHead(head: Uint8Array, side: Side, { rules, marks }: Work): Uint8Array {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  const end = text.indexOf('\r\n') + 2;
  const first = text.slice(0, end);
  const [method = '', target = '', ...rest] = first.split(' ');
  const start = side === 'request' ? [method, maskTarget(target, rules, marks), ...rest].join(' ') : first;
  const masked = start + maskLines(text.slice(end), side, { rules, marks });
  return masked === text ? head : Buffer.from(masked, 'latin1');
}

/** Lines of fields, each with its CR LF. */
function maskLines(lines: string, side: Side, { rules, marks }: Work): string {
  if (rules.headers.size === 0 && rules.queries.size === 0) return lines;
  return lines
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      if (colon < 0) return line;
      const name = line.slice(0, colon).toLowerCase();
      if (rules.headers.has(name)) {
        marks.add({ side, kind: 'header', name });
        return `${line.slice(0, colon)}: ${MASK}`;
      }
      if (!ADDRESSES.has(name)) return line;
      const { text, hit } = maskQuery(line.slice(colon + 1), rules.queries);
      for (const query of hit) marks.add({ side, kind: 'query', name: query });
      return line.slice(0, colon + 1) + text;
    })
    .join('\r\n');
}

function maskSide(head: Uint8Array | null, body: Uint8Array, rules: MaskRules) {
  if (head === null || body.length === 0) return undefined;
  const { fields } = readHead(head);
  return maskBody(
    Buffer.from(body.buffer, body.byteOffset, body.length),
    { contentType: valueOf(fields, 'content-type') ?? '', coding: valueOf(fields, 'content-encoding') ?? '' },
    rules,
  );
}
