/** One recorded request: what was decided, how long it took, what was sent and answered. Beside the list, and on a page of its own. */
import { Badge, Button, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { grpcStatusText } from '../../../base/codes/grpc-status.ts';
import { CopyIcon } from '../../parts/copy.tsx';
import { focusOn } from '../../parts/focus.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { BodyView } from './body/body-view.tsx';
import { recordedWords } from './body/body-words.ts';
import { HeaderTable } from './header-table.tsx';
import { RequestFacts, RequestSummary, TimingBar, TraceSteps, WhyNot } from './request-facts.tsx';
import { RequestActions } from './request-actions.tsx';
import { useRequest } from './request-query.ts';
import type { Tunnels } from './tunnels.ts';
import { visibleText } from './visible-text.ts';
import { WebSocketView } from './websocket/websocket-view.tsx';
import { decisionText, type Detail, statusClass, statusText, toneOf } from './messages.ts';

interface RequestDetailProps {
  readonly id: string;
  readonly tunnels: Tunnels;
  /** It has the page for itself, and the page is wide: headers stand beside the body. */
  readonly hasRoom?: boolean;
  /** Buttons of the place where it is shown. */
  readonly children?: ReactNode;
}

export function RequestDetail({ id, tunnels, hasRoom = false, children }: RequestDetailProps) {
  const request = useRequest(id);
  return (
    <Stack gap="md">
      <Loaded query={request} lines={6}>
        {(detail) => (
          <Shown key={detail.id} detail={detail} tunnels={tunnels} hasRoom={hasRoom}>
            {children}
          </Shown>
        )}
      </Loaded>
    </Stack>
  );
}

interface ShownProps {
  readonly detail: Detail;
  readonly tunnels: Tunnels;
  readonly hasRoom: boolean;
  readonly children: ReactNode;
}

function Shown({ detail, tunnels, hasRoom, children }: ShownProps) {
  return (
    <>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <span className="culvert-req-status culvert-req-status-large" data-class={statusClass(detail.status)}>
            {statusText(detail.status)}
          </span>
          {detail.grpc_status !== null && (
            <StateBadge
              tone={detail.grpc_status === 0 ? 'good' : 'bad'}
            >{`gRPC ${grpcStatusText(detail.grpc_status)}`}</StateBadge>
          )}
          <StateBadge tone={toneOf(detail.outcome)}>{decisionText(detail)}</StateBadge>
          {detail.replay_of !== null && (
            <Badge variant="outline" color="gray" tt="none">
              {detail.was_blocked ? 'sent again after a block' : 'replay'}
            </Badge>
          )}
        </Group>
        <Group gap="xs">
          <RequestActions detail={detail} />
          {children}
        </Group>
      </Group>
      <Target detail={detail} />
      <WhyNot detail={detail} tunnels={tunnels} />
      <RequestSummary detail={detail} tunnels={tunnels} />
      <Tabs defaultValue={firstTab(detail)} keepMounted={false}>
        <Tabs.List mb="sm" className="culvert-request-tabs">
          {detail.websocket !== null && <Tabs.Tab value="websocket">WebSocket</Tabs.Tab>}
          <Tabs.Tab value="response">Response</Tabs.Tab>
          <Tabs.Tab value="request">Request</Tabs.Tab>
          <Tabs.Tab value="timing">Timing</Tabs.Tab>
          <Tabs.Tab value="decision">Decision</Tabs.Tab>
        </Tabs.List>
        {detail.websocket !== null && (
          <Tabs.Panel value="websocket">
            <WebSocketView detail={detail} websocket={detail.websocket} />
          </Tabs.Panel>
        )}
        <Tabs.Panel value="response">
          <Response detail={detail} hasRoom={hasRoom} />
        </Tabs.Panel>
        <Tabs.Panel value="request">
          <Request detail={detail} hasRoom={hasRoom} />
        </Tabs.Panel>
        <Tabs.Panel value="timing">
          <Stack>
            <TimingBar detail={detail} />
            <RequestFacts detail={detail} tunnels={tunnels} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="decision">
          <TraceSteps detail={detail} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function firstTab({ websocket, outcome }: Detail): string {
  if (websocket !== null) return 'websocket';
  return outcome === 'refused' ? 'decision' : 'response';
}

/** Of a path that is drawn at first: a longer one would push the body out of sight. */
const MAX_TARGET = 240;

function Target({ detail: { method, path } }: { readonly detail: Detail }) {
  const [isWhole, setWhole] = useState(path.length <= MAX_TARGET);
  const title = useRef<HTMLHeadingElement>(null);
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Title ref={title} order={2} size="h5" className="culvert-req-title">
        {method} <bdi>{visibleText(isWhole ? path : `${path.slice(0, MAX_TARGET)}…`)}</bdi>
      </Title>
      {!isWhole && (
        <Button
          size="compact-xs"
          variant="default"
          className="culvert-fixed"
          onClick={() => {
            focusOn(title.current);
            setWhole(true);
          }}
        >
          Show all
        </Button>
      )}
      <CopyIcon value={path} what="the path" />
    </Group>
  );
}

interface SideProps {
  readonly detail: Detail;
  readonly hasRoom: boolean;
}

function Response({ detail, hasRoom }: SideProps) {
  const { response_headers: headers } = detail;
  if (detail.outcome === 'refused')
    return (
      <Text size="sm" c="dimmed">
        Your service did not get this request. The edge responded.
      </Text>
    );
  const body = {
    base64: detail.response_body,
    size: detail.response_size,
    isTruncated: detail.response_body_truncated,
    ...recordedWords(headers),
  };
  return (
    <Beside
      masked={maskedIn(detail, 'response')}
      body={<BodyView title="Response body" fileName={`response-${detail.id}`} body={body} />}
    >
      <HeaderTable
        title="Response headers"
        fields={detail.response_header_list}
        none="Your service sent none."
        hasRoom={hasRoom}
      />
      {detail.response_trailers.length > 0 && (
        <HeaderTable
          title="Response trailers"
          fields={detail.response_trailers}
          none="Your service sent none."
          hasRoom={hasRoom}
        />
      )}
    </Beside>
  );
}

function Request({ detail, hasRoom }: SideProps) {
  const body = {
    base64: detail.request_body,
    size: detail.request_size,
    isTruncated: detail.request_body_truncated,
    ...recordedWords(detail.request_headers),
  };
  return (
    <Beside
      masked={maskedIn(detail, 'request')}
      body={<BodyView title="Request body" fileName={`request-${detail.id}`} body={body} />}
    >
      <HeaderTable
        title="Request headers"
        fields={detail.request_header_list}
        none="None recorded."
        hasRoom={hasRoom}
      />
    </Beside>
  );
}

interface BesideProps {
  readonly body: ReactNode;
  /** Names of what the tunnel's rules have masked. */
  readonly masked: readonly string[];
  readonly children: ReactNode;
}

/** The body first; where there is room, the headers are beside it, else below. */
function Beside({ body, masked, children }: BesideProps) {
  return (
    <div className="culvert-request-room">
      <div className="culvert-request-columns">
        <Stack gap="xs">
          {masked.length > 0 && (
            <Text size="sm" className="culvert-truncated culvert-foreign" role="note">
              Masked before it was stored: {visibleText(masked.join(', '))}.
            </Text>
          )}
          {body}
        </Stack>
        <Stack>{children}</Stack>
      </div>
    </div>
  );
}

function maskedIn({ masked }: Detail, of: 'request' | 'response'): string[] {
  return masked
    .filter(({ side }) => side === of)
    .map(({ kind, name }) => (kind === 'body' ? 'the rest of the body' : name));
}
