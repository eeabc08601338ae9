/** Puts the policy as it is being edited to the requests that were recorded last, and shows what it would have refused. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Tunnel } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { useAction } from '../../parts/action.ts';
import { Panel } from '../../parts/panel.tsx';
import { textOf } from './draft.ts';
import type { Policy } from './kinds.ts';
import { PolicyTestActions } from './policy-test-actions.tsx';
import { PolicyTestRequests } from './policy-test-requests.tsx';
import { resultText, type PolicyTest, unknownTexts } from './policy-test-messages.ts';

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
      about={`What ${isSaved ? 'it' : 'your changes'} would have done to the last 1,000 recorded requests. Nothing is changed or sent.`}
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
              The oldest came <Ago at={result.from} />, the newest <Ago at={result.to} />.{' '}
            </>
          )}
          {isOther && <b>The policy has been changed since this test.</b>}
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
            Requests are recorded while the inspector is on, for as long as your plan keeps them. Open the tunnel’s
            address once, then test again.
          </Text>
        </Group>
      )}
    </Stack>
  );
}
