/** The visitor gate of a tunnel: whether visitors must say who they are, and who of them comes in. */
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useAccount, useMay } from '../../api/context.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PlanLink } from '../../parts/plan-link.tsx';
import { OnOff } from './on-off.tsx';
import { type TunnelDetail, useVisitorGate } from './tunnel-queries.ts';
import { useRemoveVisitorGate } from './use-visitor-actions.ts';
import { VisitorForm } from './visitor-form.tsx';
import type { VisitorLists } from './visitor-lists.ts';

export function VisitorPanel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { id, edgeAuthEnabled: isOn } = tunnel;
  const gate = useVisitorGate(id);
  const hasPlan = useAccount().entitlements.edge_auth;
  const mayChange = useMay('member');
  return (
    <Panel
      title="Visitor login"
      about="Visitors sign in with the server's identity provider, and only those on your lists come in."
      actions={<OnOff on={isOn} />}
    >
      {!hasPlan && (
        <PlanLink>
          {isOn
            ? 'Your plan has no visitor login. The current one stays, and can only be removed.'
            : 'Your plan has no visitor login.'}
        </PlanLink>
      )}
      <Loaded query={gate} lines={2}>
        {({ warnings = [], ...lists }) => (
          <Stack gap="sm">
            {(isOn || mayChange) &&
              warnings.map((words) => (
                <Alert key={words} color="yellow" role="status">
                  {words}
                </Alert>
              ))}
            <Asking tunnel={tunnel} lists={lists} isBlocked={warnings.length > 0} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

interface AskingProps {
  readonly tunnel: TunnelDetail;
  readonly lists: VisitorLists;
  /** The server has no identity provider: Visitor login would block all visitors. */
  readonly isBlocked: boolean;
}

function Asking({ tunnel, lists, isBlocked }: AskingProps) {
  const { id, edgeAuthEnabled: isOn } = tunnel;
  const hasPlan = useAccount().entitlements.edge_auth;
  if (!useMay('member')) return isOn && <Listed lists={lists} />;
  if (!hasPlan)
    return (
      isOn && (
        <>
          <Listed lists={lists} />
          <RemoveVisitors tunnel={tunnel} />
        </>
      )
    );
  if (isBlocked && !isOn)
    return (
      <Button disabled w="fit-content">
        Ask visitors to sign in
      </Button>
    );
  return (
    <VisitorForm key={String(isOn)} tunnelId={id} isOn={isOn} lists={lists}>
      {isOn && <RemoveVisitors tunnel={tunnel} />}
    </VisitorForm>
  );
}

function Listed({ lists }: { readonly lists: VisitorLists }) {
  const entries = [...lists.allowed_domains.map((domain) => `all of ${domain}`), ...lists.allowed_emails];
  return <Text size="sm">Allowed: {entries.join(', ')}.</Text>;
}

function RemoveVisitors({ tunnel: { id, subdomain } }: { readonly tunnel: TunnelDetail }) {
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useRemoveVisitorGate(id, close);
  return (
    <>
      <Button variant="default" onClick={open} w="fit-content">
        Remove login
      </Button>
      <Confirm
        title={`Let visitors of ${subdomain} in without signing in?`}
        action="Remove login"
        opened={opened}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => {
          remove.reset();
          close();
        }}
      >
        Applies immediately: visitors get in without signing in, unless another setting on this page blocks them. The
        lists are deleted.
      </Confirm>
    </>
  );
}
