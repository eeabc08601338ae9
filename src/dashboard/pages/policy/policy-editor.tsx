/** The editor of a tunnel's policy. */
import { Alert, Button, Group, SegmentedControl, SimpleGrid, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { ActionList, AddAction } from './action-list.tsx';
import { type DryRun, usePolicy, useRemovePolicy, useSavePolicy } from './data.ts';
import { policyIn, withKind, withNew } from './draft.ts';
import { type Example, EXAMPLES } from './examples.ts';
import { JsonView } from './json-view.tsx';
import type { Policy } from './kinds.ts';
import { PolicyTestPanel } from './policy-test-panel.tsx';
import { useEditor } from './use-editor.ts';

/** A tunnel's traffic policy on the page of the tunnel: what is asked of its visitors, edited by forms or as text. */
export function PolicyPanel({ tunnel }: { readonly tunnel: Tunnel }) {
  const policy = usePolicy(tunnel.id);
  if (policy.data === undefined)
    return (
      <Panel title="Traffic policy">
        <Loaded query={policy}>{() => null}</Loaded>
      </Panel>
    );
  return <PolicyEditor key={tunnel.id} tunnel={tunnel} saved={policy.data.policy} dryRuns={policy.data.dry_run} />;
}

interface EditorProps {
  readonly tunnel: Tunnel;
  readonly saved: Policy | null;
  readonly dryRuns: readonly DryRun[];
}

/** The editor itself: the actions in the order in which they are asked, or all of it as text, and what can be done with it. */
function PolicyEditor({ tunnel, saved, dryRuns }: EditorProps) {
  const editor = useEditor(tunnel.id, saved);
  const mayChange = useMay('member');
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [asksRemoval, setAsksRemoval] = useState(false);
  const save = useSavePolicy(tunnel.id, (sent, told) => {
    setWarnings(told);
    editor.settled(sent);
  });
  const remove = useRemovePolicy(tunnel.id, () => {
    setAsksRemoval(false);
    setWarnings([]);
    editor.discard();
  });
  const { draft } = editor;
  const actions = policyIn(draft).actions;
  const send = (): void => {
    const policy = editor.toSend();
    if (policy !== undefined) save.mutate(policy, { onError: editor.refused });
  };
  return (
    <Stack gap="lg">
      <Panel
        title="Traffic policy"
        about="Rules at the edge, applied before a request reaches your machine. Blocked requests use no traffic."
        actions={
          <SegmentedControl
            aria-label="Editor"
            size="xs"
            value={editor.text === null ? 'form' : 'json'}
            disabled={editor.textFault !== undefined}
            data={[
              { value: 'form', label: 'Form' },
              { value: 'json', label: 'JSON' },
            ]}
            onChange={(value) => editor.showText(value === 'json')}
          />
        }
      >
        <Stack gap="md">
          {editor.isOvertaken && (
            <Warning>
              Another member has changed this policy. Saving replaces their version; discard your changes to see it.
            </Warning>
          )}
          {warnings.map((warning) => (
            <Warning key={warning}>{warning}</Warning>
          ))}
          {editor.text !== null ? (
            <JsonView text={editor.text} fault={editor.textFault} isReadOnly={!mayChange} onChange={editor.type} />
          ) : actions.length === 0 ? (
            mayChange ? (
              <FirstPolicy
                protocol={tunnel.protocol}
                onPick={(example) => editor.edit(withNew(draft, example.actions))}
              />
            ) : (
              <Text size="sm">
                This tunnel has no policy, so all visitors are allowed. Members of your organization can add one.
              </Text>
            )
          ) : (
            <ActionList
              draft={draft}
              editor={editor}
              dryRuns={editor.isChanged ? [] : dryRuns}
              isReadOnly={!mayChange}
            />
          )}
          {editor.trouble !== undefined && (
            <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle size={18} />}>
              {editor.trouble}
            </Alert>
          )}
          {mayChange && (
            <Group justify="space-between" gap="sm">
              {editor.text === null ? (
                <AddAction
                  actions={actions}
                  protocol={tunnel.protocol}
                  onAdd={(kind) => editor.edit(withKind(draft, kind))}
                />
              ) : (
                <span />
              )}
              <Group gap="xs">
                {editor.isChanged && <StateBadge tone="warn">Not saved</StateBadge>}
                {saved !== null && !editor.isChanged && (
                  <Button variant="subtle" color="red" onClick={() => setAsksRemoval(true)}>
                    Remove policy
                  </Button>
                )}
                {editor.isChanged && (
                  <Button variant="default" onClick={editor.discard}>
                    Discard
                  </Button>
                )}
                <Button
                  onClick={send}
                  loading={save.isPending}
                  disabled={!editor.isChanged || editor.textFault !== undefined}
                >
                  Save policy
                </Button>
              </Group>
            </Group>
          )}
        </Stack>
        <Confirm
          title={`Remove the policy of ${tunnel.subdomain}?`}
          action="Remove policy"
          opened={asksRemoval}
          isBusy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => {
            setAsksRemoval(false);
            remove.reset();
          }}
        >
          Applies immediately. Password, visitor login and maintenance stay as they are.
        </Confirm>
      </Panel>
      {tunnel.protocol !== 'tcp' && (
        <PolicyTestPanel
          tunnel={tunnel}
          policy={policyIn(draft)}
          isSaved={!editor.isChanged}
          isComplete={() => editor.toSend() !== undefined}
          onRefused={editor.refused}
        />
      )}
    </Stack>
  );
}

function Warning({ children }: { readonly children: string }) {
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle size={18} />}>
      {children}
    </Alert>
  );
}

interface FirstPolicyProps {
  readonly protocol: string;
  readonly onPick: (example: Example) => void;
}

/** What stands where a tunnel has no policy yet: what one does, and some to start from. */
function FirstPolicy({ protocol, onPick }: FirstPolicyProps) {
  const fitting = EXAMPLES.filter(({ forTcp }) => protocol !== 'tcp' || forTcp === true);
  return (
    <>
      <Text size="sm">All visitors are allowed now. Start with an example, or add your own action:</Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {fitting.map((example) => (
          <UnstyledButton key={example.title} className="culvert-policy-example" onClick={() => onPick(example)}>
            <Text size="sm" fw={500}>
              {example.title}
            </Text>
            <Text size="xs" c="dimmed">
              {example.about}
            </Text>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </>
  );
}
