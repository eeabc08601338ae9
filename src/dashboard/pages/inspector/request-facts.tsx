/** The facts of a request, its timing, and the decisions of the edge. */
import { Alert, Anchor, Text } from '@mantine/core';
import { IconInfoCircle, IconShieldX } from '@tabler/icons-react';
import { type ReactNode, useMemo } from 'react';
import { Link } from 'wouter';
import { bytesText, clockText, durationText, timeOf } from '../../parts/format.ts';
import { typeOf } from './body/body-kind.ts';
import { recordedWords } from './body/body-words.ts';
import { bytesOf, textOf } from './body/bytes.ts';
import { operationsOf } from './body/graphql.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import {
  decisionText,
  type Detail,
  partOf,
  reasonText,
  refuserOf,
  stepText,
  timingOf,
  toneOf,
  verdictText,
  verdictTone,
} from './messages.ts';
import { numbered, Section } from './section.tsx';
import type { Tunnels } from './tunnels.ts';
import { visibleText } from './visible-text.ts';
import { durationWords } from './websocket/websocket-words.ts';

export function WhyNot({ detail, tunnels }: { readonly detail: Detail; readonly tunnels: Tunnels }) {
  if (detail.outcome === 'forwarded') return null;
  const step = refuserOf(detail);
  const part = partOf(detail);
  const tunnel = tunnels.find(detail.tunnel_id);
  const isRefused = detail.outcome === 'refused';
  return (
    <Alert
      color={isRefused ? 'yellow' : 'red'}
      variant="light"
      icon={isRefused ? <IconShieldX size={18} /> : <IconInfoCircle size={18} />}
    >
      <Text size="sm" fw={600}>
        {isRefused ? 'Blocked by the edge' : 'No full response'}
      </Text>
      <Text size="sm" className="culvert-foreign">
        {reasonText(detail)}
        {step !== undefined && ` ${stepText(step)} ${verdictText(step)}.`}
      </Text>
      {part !== undefined && tunnel !== undefined && (
        <Anchor component={Link} href={`/tunnels/${tunnel.id}?tab=${part.tab}`} size="sm" underline="always">
          {part.words}
        </Anchor>
      )}
    </Alert>
  );
}

/** What is asked first, in one line: how long, how much, where and when. */
export function RequestSummary({ detail, tunnels }: { readonly detail: Detail; readonly tunnels: Tunnels }) {
  const [operation, ...others] = useMemo(() => graphqlIn(detail), [detail]);
  const isRefused = detail.outcome === 'refused';
  return (
    <div className="culvert-summary">
      <span>
        <b>{detail.websocket === null ? durationText(detail.latency_ms) : durationWords(detail.websocket)}</b>
      </span>
      {!isRefused && (
        <span>
          {bytesText(detail.websocket?.bytes_in ?? detail.request_size)} in,{' '}
          {bytesText(detail.websocket?.bytes_out ?? detail.response_size)} out
        </span>
      )}
      <span>{tunnels.nameOf(detail.tunnel_id)}</span>
      <time dateTime={detail.timestamp}>{clockText(timeOf(detail.timestamp))}</time>
      <span>{detail.remote_ip}</span>
      {operation !== undefined && (
        <bdi>
          GraphQL {visibleText(operation.title)}
          {others.length > 0 && ` and ${others.length} more`}
        </bdi>
      )}
      {detail.replay_of !== null && (
        <span>
          Replay of{' '}
          <Anchor component={Link} href={`/inspector/${detail.replay_of}`} inherit underline="always">
            the first request
          </Anchor>
        </span>
      )}
    </div>
  );
}

/** Larger bodies are not looked through for a name. */
const MAX_NAMED = 300_000;

function graphqlIn({ request_headers: headers, request_body: body, request_body_truncated: isCut, path }: Detail) {
  const { type: contentType, coding } = recordedWords(headers);
  const type = typeOf(contentType);
  const hasBody = body !== '' && !isCut && body.length < MAX_NAMED && coding === '';
  return operationsOf(hasBody ? textOf(bytesOf(body)) : undefined, type, path);
}

export function RequestFacts({ detail, tunnels }: { readonly detail: Detail; readonly tunnels: Tunnels }) {
  const { trace } = detail;
  const tunnel = tunnels.find(detail.tunnel_id);
  return (
    <dl className="culvert-facts">
      <Fact title="Time">
        <time dateTime={detail.timestamp}>{clockText(timeOf(detail.timestamp))}</time>
      </Fact>
      <Fact title="Tunnel">
        {tunnel === undefined ? (
          tunnels.nameOf(detail.tunnel_id)
        ) : (
          <Anchor component={Link} href={`/tunnels/${tunnel.id}`} inherit underline="always">
            {tunnel.subdomain}
          </Anchor>
        )}
      </Fact>
      <Fact title="Visitor">{detail.remote_ip}</Fact>
      <Fact title="Host">
        <bdi>{visibleText(detail.host)}</bdi>
      </Fact>
      <Fact title="Protocol">
        {trace.scheme}, HTTP/{detail.http_version}
        {trace.connection !== null && `, ${trace.connection} connection to the service`}
      </Fact>
      <Fact title="Bodies">
        {detail.outcome === 'refused'
          ? 'none forwarded'
          : `${bytesText(detail.request_size)} in, ${bytesText(detail.response_size)} out`}
      </Fact>
      {detail.trace_id !== null && (
        <Fact title="Trace ID">
          <span className="culvert-mono culvert-wrap">{detail.trace_id}</span>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Where the time of a request went: a bar, and the same in words. */
export function TimingBar({ detail }: { readonly detail: Detail }) {
  const parts = timingOf(detail);
  const all = parts.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <Section title="Timing" actions={<Text size="sm">{durationText(detail.latency_ms)} total</Text>}>
      <div className="culvert-timing" aria-hidden="true">
        {parts.map(({ key, ms }) => (
          <div key={key} data-part={key} style={{ flexGrow: all > 0 ? ms / all : 1 }} />
        ))}
      </div>
      <dl className="culvert-timing-words">
        {parts.map(({ key, title, ms }) => (
          <div key={key} data-part={key}>
            <dt>{title}</dt>
            <dd>{durationText(ms)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const SIGNS = { passed: 'allowed', refused: 'blocked', would_refuse: 'log only', beside: 'log only' } as const;

/** What was asked before the request was passed on, step by step, and what each step said. */
export function TraceSteps({ detail }: { readonly detail: Detail }) {
  const { trace } = detail;
  return (
    <Section title="Decision">
      <ol className="culvert-steps">
        {numbered(trace.steps).map(({ at, row: step }) => (
          <li key={at}>
            <StateBadge tone={verdictTone(step.verdict)}>{SIGNS[step.verdict]}</StateBadge>
            <Text size="sm" className="culvert-foreign">
              <b>{stepText(step)}</b> {verdictText(step)}
            </Text>
          </li>
        ))}
        <li>
          <StateBadge tone={toneOf(trace.outcome)}>{decisionText(trace)}</StateBadge>
          <Text size="sm">
            {trace.steps.length === 0 && 'No policy or access control applied. '}
            {reasonText(trace)}
            {trace.retried && ' An idle connection to your service was closed, so the edge sent the request again.'}
          </Text>
        </li>
      </ol>
    </Section>
  );
}
