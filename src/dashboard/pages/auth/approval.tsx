/** Approve or cancel, for one organization of the signed-in user. */
import { Button, Code, Group, List, NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { failureFrom, isOtherByNow } from '../../api/failure.ts';
import type { Account } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import type { Arrival } from '../../place.ts';
import { SignedInOnly } from './signed-in-only.tsx';

export type Ending = { readonly how: 'approved'; readonly label: string } | { readonly how: 'cancelled' };

interface ApprovalProps {
  readonly arrival: Arrival;
  readonly deviceCode: string;
  readonly onEnd: (ending: Ending) => void;
}

export function Approval({ arrival, deviceCode, onEnd }: ApprovalProps) {
  const { client, session } = useApi();
  const [problem, setProblem] = useState<string>();
  const refused = (error: unknown): void => {
    const { status, message } = failureFrom(error);
    if (status !== 401 && !isOtherByNow(error)) setProblem(message);
  };
  const approve = useAction({
    // The key itself is for the command line: nothing of it stays here.
    run: async () => (await answered(client.POST('/auth/cli/authorize', { body: { device_code: deviceCode } }))).label,
    onDone: (label) => onEnd({ how: 'approved', label }),
    tellsFailure: true,
  });
  const move = useAction({
    run: (id: string) => answered(client.POST('/auth/switch-org', { body: { org_id: id } })),
    onDone: ({ access_token: token }) => session.enter(token),
    tellsFailure: true,
  });
  const begin = (action: () => void): void => {
    setProblem(undefined);
    action();
  };
  return (
    <SignedInOnly
      arrival={arrival}
      returnTo={`/app/cli?device_code=${encodeURIComponent(deviceCode)}`}
      title="Permissions"
      problem={problem}
    >
      {(account) => (
        <>
          <OrganizationChoice
            account={account}
            isBusy={move.isPending}
            onChoose={(id) => begin(() => move.mutate(id, { onError: refused }))}
          />
          <div>
            <Text size="sm">
              Until <Code>culvert logout</Code>, it may
            </Text>
            <List size="sm" mt={4}>
              <List.Item>publish local ports on any name of the organization, for 90 days,</List.Item>
              <List.Item>act as you, with all your permissions in this dashboard.</List.Item>
            </List>
          </div>
          <Group grow>
            <Button size="md" variant="default" onClick={() => onEnd({ how: 'cancelled' })}>
              Cancel
            </Button>
            <Button
              size="md"
              disabled={move.isPending}
              loading={approve.isPending}
              onClick={() => begin(() => approve.mutate(undefined, { onError: refused }))}
            >
              Approve
            </Button>
          </Group>
        </>
      )}
    </SignedInOnly>
  );
}

interface OrganizationChoiceProps {
  readonly account: Account;
  readonly isBusy: boolean;
  readonly onChoose: (id: string) => void;
}

function OrganizationChoice({ account: { orgs, active_org: active }, isBusy, onChoose }: OrganizationChoiceProps) {
  if (orgs.length < 2)
    return (
      <Text size="sm" className="culvert-wrap">
        Organization <strong>{active.name}</strong>
      </Text>
    );
  return (
    <NativeSelect
      label="Organization"
      size="md"
      value={active.id}
      disabled={isBusy}
      data={orgs.map(({ id, name }) => ({ value: id, label: name }))}
      onChange={(event) => onChoose(event.currentTarget.value)}
    />
  );
}
