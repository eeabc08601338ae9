/** One recorded request with everything, as people read it on a terminal. Called by inspect.ts. */
import { z } from 'zod';
import { explain } from '../../base/codes/code-text.ts';
import { grpcStatusText } from '../../base/codes/grpc-status.ts';
import { edgeFault } from '../../base/codes/edge-faults.ts';
import type { Asked } from '../client/api-command.ts';
import { bodyLines } from './body.ts';
import { frameLines, sayWebSocket, webSocket, webSocketFrame } from './websocket.ts';
import { nameOfStep } from './edge-messages.ts';
import { item, statusShown } from './inspected-item.ts';
import { hasColor, print } from '../terminal/io.ts';
import { tunnelNames } from '../manage/tunnels.ts';
import { jsonText, type Line, paint, span } from '../terminal/paint.ts';

const fields = z.array(z.looseObject({ name: z.string(), value: z.string() }));
const step = z.looseObject({
  step: z.string(),
  index: z.int().nullable(),
  rule: z.string().nullable(),
  verdict: z.string(),
  code: z.string().nullable(),
});
const detail = item.extend({
  host: z.string(),
  http_version: z.string(),
  request_header_list: fields,
  response_header_list: fields,
  request_body: z.string(),
  response_body: z.string(),
  request_body_truncated: z.boolean(),
  response_body_truncated: z.boolean(),
  // Of servers before they had it: absent.
  grpc_status: z.int().nullish(),
  websocket: webSocket.nullish(),
  websocket_frames: z.array(webSocketFrame).nullish(),
  trace: z.looseObject({
    outcome: z.string(),
    code: z.string().nullable(),
    scheme: z.string(),
    steps: z.array(step),
    agent_id: z.string().nullable(),
    connection: z.string().nullable(),
    retried: z.boolean(),
    policy_ms: z.number(),
    first_byte_ms: z.number().nullable(),
  }),
});

type Detail = z.output<typeof detail>;
type Step = z.output<typeof step>;

const VERDICTS: ReadonlyMap<string, string> = new Map([
  ['passed', 'passed'],
  ['refused', 'refused it'],
  ['would_refuse', 'would refuse it (log only)'],
  ['beside', 'was checked separately (log only)'],
]);

/** Prints what the server answered: as it is with `--json`. */
export async function showDetail(asked: Asked, answer: unknown): Promise<void> {
  const { io, flags } = asked;
  if (flags['json'] === true) return print(io.stdout, jsonText(answer));
  const color = hasColor(io.stdout, io.env);
  const shown = detail.parse(answer);
  const name = (await tunnelNames(asked)).get(shown.tunnel_id);
  const lines = linesOf(shown, name).map((line) => paint(line, color));
  await print(io.stdout, lines.join('\n'));
}

function linesOf(shown: Detail, tunnel: string | undefined): Line[] {
  const { trace } = shown;
  return [
    [span(`${shown.method} ${shown.path} `, 'bold'), statusShown(shown), span(` in ${shown.latency_ms.toFixed(1)} ms`)],
    labelled('id', shown.id),
    labelled('tunnel', tunnel === undefined ? `${shown.tunnel_id} (deleted)` : `${tunnel} (${shown.tunnel_id})`),
    labelled('time', `${shown.timestamp.slice(0, 23).replace('T', ' ')} UTC`),
    labelled('from', shown.remote_ip),
    labelled('to', `${trace.scheme}://${shown.host}, HTTP/${shown.http_version}`),
    ...(shown.replay_of === null ? [] : [labelled('replay of', shown.replay_of)]),
    labelled('outcome', sayOutcome(trace)),
    ...(typeof shown.grpc_status === 'number' ? [labelled('gRPC', grpcStatusText(shown.grpc_status))] : []),
    ...trace.steps.map((one) => labelled('', sayStep(one))),
    labelled('took', sayTimes(shown)),
    ...(shown.websocket ? [labelled('websocket', sayWebSocket(shown.websocket))] : []),
    ...(trace.agent_id === null ? [] : [labelled('agent', sayAgent(shown))]),
    ...message('Request', {
      fields: shown.request_header_list,
      body: shown.request_body,
      size: shown.request_size,
      isCut: shown.request_body_truncated,
    }),
    ...message('Response', {
      fields: shown.response_header_list,
      body: shown.response_body,
      size: shown.response_size,
      isCut: shown.response_body_truncated,
    }),
    ...frameLines(shown.websocket_frames ?? [], shown.websocket?.frames_not_recorded ?? 0),
  ];
}

function labelled(name: string, text: string): Line {
  return [span(name.padEnd(10), 'dim'), span(text)];
}

function sayOutcome({ outcome, code }: Detail['trace']): string {
  if (code === null) return outcome;
  const fault = edgeFault(code);
  return fault === undefined ? `${outcome}: ${code}` : `${outcome}: ${code}. ${explain(fault)}`;
}

/** `deny /admin (action 2) refused it: denied`. */
function sayStep({ step, index, rule, verdict, code }: Step): string {
  const name = rule === null || rule === '' ? nameOfStep(step) : `${step} ${rule}`;
  const place = index === null ? '' : ` (action ${index + 1})`;
  const why = code === null ? '' : `: ${code}`;
  return `${name}${place} ${VERDICTS.get(verdict) ?? verdict}${why}`;
}

function sayTimes({ latency_ms: whole, trace: { policy_ms: policy, first_byte_ms: first } }: Detail): string {
  const head = first === null ? '' : `, ${first.toFixed(1)} ms to the response header`;
  return `${policy.toFixed(1)} ms for the policy${head}, ${whole.toFixed(1)} ms in total`;
}

function sayAgent({ trace: { agent_id: agent, connection, retried } }: Detail): string {
  const local = connection === null ? '' : `, ${connection} connection to the service`;
  return `${agent}${local}${retried ? ', sent twice: the idle connection was closed' : ''}`;
}

interface Message {
  readonly fields: Detail['request_header_list'];
  /** Base64. */
  readonly body: string;
  /** True size in bytes. */
  readonly size: number;
  readonly isCut: boolean;
}

function message(name: string, { fields: list, body, size, isCut }: Message): Line[] {
  if (list.length === 0 && size === 0) return [];
  const coding = list.filter(({ name: field }) => field.toLowerCase() === 'content-encoding').map(({ value }) => value);
  return [
    [],
    [span(name, 'bold')],
    ...list.map((field): Line => [span(`  ${field.name}: `, 'dim'), span(field.value)]),
    ...bodyLines({ bytes: Buffer.from(body, 'base64'), size, isCut, coding: coding.join(', ') }),
  ];
}
