/** The policy test: the edited policy on the last recorded requests. */
import { Alert, Anchor, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Tunnel } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { countText } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { visiblePath } from '../inspector/visible-text.ts';
import { textOf } from './draft.ts';
import { askedOrder, entryOf, type Policy, ruleText } from './kinds.ts';
import { type PolicyTest, resultText, unknownTexts } from './policy-test-messages.ts';

interface PolicyTestPanelProps {
  readonly tunnel: Tunnel;
  /** As it stands in the editor. */
  readonly policy: Policy;
  readonly isSaved: boolean;
  /** Whether it may be sent: shows its faults when not. */
  readonly isComplete: () => boolean;
  readonly onRefused: (error: unknown) => void;
}

/** The answer, and for which policy it is. */
interface Tested {
  readonly text: string;
  readonly policy: Policy;
  readonly result: PolicyTest;
}

export function PolicyTestPanel({ tunnel, policy, isSaved, isComplete, onRefused }: PolicyTestPanelProps) {
  const { client } = useApi();
  const [tested, setTested] = useState<Tested | null>(null);
  const text = textOf(policy);
  const run = useAction<Policy, PolicyTest>({
    run: (asked) =>
      answered(
        client.POST('/tunnels/{id}/policy/test', {
          params: { path: { id: tunnel.id } },
          body: { policy: asked, limit: 1000 },
        }),
      ),
    tellsFailure: true,
    onDone: (result, asked) => setTested({ result, policy: asked, text: textOf(asked) }),
  });
  const isOther = tested !== null && tested.text !== text;
  return (
    <Panel
      title="Test against recorded traffic"
      about={`Runs ${isSaved ? 'the policy' : 'your changes'} on the last 1,000 recorded requests. Changes and sends nothing.`}
      actions={
        <Button
          variant="default"
          leftSection={<IconFlask size={16} />}
          loading={run.isPending}
          disabled={policy.actions.length === 0}
          onClick={() => {
            if (isComplete()) run.mutate(policy, { onError: onRefused });
          }}
        >
          {tested === null ? 'Run test' : 'Test again'}
        </Button>
      }
    >
      {run.isError && failureFrom(run.error).code !== 'bad_policy' && (
        <Alert color="red" variant="light" role="alert">
          {failureFrom(run.error).message}
        </Alert>
      )}
      <div aria-live="polite">
        {tested !== null && <Result {...tested} isOther={isOther} />}
        {tested === null && policy.actions.length === 0 && (
          <Text size="sm" c="dimmed">
            Add an action first.
          </Text>
        )}
      </div>
    </Panel>
  );
}

function Result({ result, policy, isOther }: Tested & { readonly isOther: boolean }) {
  return (
    <Stack gap="sm">
      <div>
        <Text fw={600} size="lg">
          {resultText(result)}
        </Text>
        <Text size="sm" c="dimmed">
          {result.from !== null && (
            <>
              Oldest: <Ago at={result.from} />, newest: <Ago at={result.to} />.{' '}
            </>
          )}
          {isOther && <b>The policy changed after this test.</b>}
        </Text>
        {unknownTexts(result).map((line) => (
          <Text key={line} size="sm" c="dimmed">
            {line}
          </Text>
        ))}
      </div>
      {result.tested > 0 && <PolicyTestActions result={result} policy={policy} />}
      {result.requests.length > 0 && <PolicyTestRequests result={result} policy={policy} />}
      {result.tested === 0 && result.not_tested.length === 0 && (
        <Group>
          <Text size="sm" c="dimmed">
            The inspector records requests for as long as your plan keeps them. Open the tunnel’s URL once, then test
            again.
          </Text>
        </Group>
      )}
    </Stack>
  );
}

/** What each action would have refused, as bars of the same scale. */
function PolicyTestActions({ result, policy }: { readonly result: PolicyTest; readonly policy: Policy }) {
  const order = askedOrder(policy.actions);
  const rows = order.flatMap((index) => result.by_action.find((one) => one.index === index) ?? []);
  return (
    <Stack gap={6} component="ul" className="culvert-policy-actions" aria-label="By action">
      {rows.map(({ index, kind, enforced, would_refuse: count }) => {
        const action = policy.actions[index];
        return (
          <li key={index}>
            <Group justify="space-between" gap="md" wrap="nowrap">
              <Text size="sm" className="culvert-wrap">
                {entryOf(kind)?.title ?? kind}{' '}
                <span className="culvert-mono">{action === undefined ? '' : ruleText(action)}</span>
                {enforced ? '' : ' (log only)'}
              </Text>
              <Text size="sm" className="culvert-number">
                {countText(count)}
              </Text>
            </Group>
            <Progress
              value={result.tested === 0 ? 0 : (100 * count) / result.tested}
              size="sm"
              color={enforced ? 'red.8' : 'yellow.6'}
              aria-hidden
            />
          </li>
        );
      })}
    </Stack>
  );
}

type Request = PolicyTest['requests'][number];

/** The requests that would have been refused, each with a way to its record. Method and path are a visitor's: they are text and nothing else. */
function PolicyTestRequests({ result, policy }: { readonly result: PolicyTest; readonly policy: Policy }) {
  const all = result.by_action.reduce((sum, { would_refuse: count }) => sum + count, 0);
  return (
    <Stack gap="xs">
      {all > result.requests.length && (
        <Text size="sm" c="dimmed">
          The newest {countText(result.requests.length)} of them:
        </Text>
      )}
      <Table
        label="Requests that would be blocked"
        rows={result.requests}
        rowKey={({ id }) => id}
        columns={columnsFor(policy)}
      />
    </Stack>
  );
}

function columnsFor(policy: Policy): ReadonlyArray<Column<Request>> {
  return [
    {
      key: 'request',
      title: 'Request',
      cell: ({ id, method, path }) => (
        <Anchor component={Link} href={`/inspector/${id}`} className="culvert-mono culvert-policy-path">
          {method} <bdi>{visiblePath(path)}</bdi>
        </Anchor>
      ),
    },
    { key: 'status', title: 'Original status', cell: ({ status }) => (status === 0 ? 'none' : String(status)) },
    { key: 'from', title: 'IP address', cell: ({ remote_ip: from }) => <span className="culvert-mono">{from}</span> },
    {
      key: 'by',
      title: 'Blocked by',
      cell: ({ action, enforced }) => {
        const kind = policy.actions[action]?.kind ?? '';
        return `${entryOf(kind)?.title ?? kind}${enforced ? '' : ' (log only)'}`;
      },
    },
    { key: 'when', title: 'Time', cell: ({ timestamp }) => <Ago at={timestamp} /> },
  ];
}
