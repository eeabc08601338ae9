/** The trace of a request (W3C Trace Context): the visitor's own, or one that begins here because an access log or an export will name it. */
import type { Head } from '../../http1/head.ts';
import { type TraceIds, traceIdIn } from '../../http1/trace-parent.ts';
import { HeaderRule } from '../policy/header-rule.ts';

const TRACE_FIELDS = new HeaderRule([], ['traceparent', 'tracestate']);

/** Where it is noted: edge/exchange/exchange.ts. */
export interface Traced {
  traceId: string;
  traceLine: Buffer | null;
}

/** Reads the trace id of the head. `traces`: begins one where there is none, or none that is valid; null: nothing begins. Plain arguments: this is per request. */
export function noteTrace(of: Traced, bytes: Buffer, head: Head, traces: TraceIds | null): void {
  of.traceId = head.traceCount === 1 ? traceIdIn(bytes, head.traceStart, head.traceEnd) : '';
  of.traceLine = null;
  if (of.traceId !== '' || traces === null) return;
  of.traceId = traces.nextTrace();
  of.traceLine = traces.line(of.traceId);
}

/** The lines `added` with the one that begins a trace. What the visitor sent of it is left out, its tracestate too; a policy that sets the field wins. */
export function withTrace(
  line: Buffer,
  added: Buffer,
  of: { bytes: Buffer; head: Head; rule: HeaderRule | null },
): Buffer {
  if (of.rule !== null && of.rule.has('traceparent')) return added;
  TRACE_FIELDS.dropFrom(of.bytes, of.head);
  return added.length === 0 ? line : Buffer.concat([added, line]);
}
