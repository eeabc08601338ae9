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
  const save = useSavePolicy(tunnel.id, saved, (sent, told) => {
    setWarnings(told);
    editor.settled(sent);
  });
  const send = (): void => {
    const policy = editor.toSend();
    if (policy !== undefined) save.mutate(policy, { onError: editor.refused });
  };
  const removed = (): void => {
    setWarnings([]);
    editor.discard();
  };
  return (
    <Stack gap="lg">
      <Panel
        title="Traffic policy"
        about="Rules at the edge, applied before a request reaches your machine. Blocked requests use no traffic."
        actions={<FormOrText editor={editor} />}
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
          <PolicyBody tunnel={tunnel} editor={editor} dryRuns={dryRuns} mayChange={mayChange} />
          {editor.trouble !== undefined && (
            <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle size={18} />}>
              {editor.trouble}
            </Alert>
          )}
          {mayChange && (
            <Group justify="space-between" gap="sm">
              {editor.text === null ? (
                <AddAction
                  actions={policyIn(editor.draft).actions}
                  protocol={tunnel.protocol}
                  onAdd={(kind) => editor.edit(withKind(editor.draft, kind))}
                />
              ) : (
                <span />
              )}
              <Group gap="xs">
                {editor.isChanged && <StateBadge tone="warn">Not saved</StateBadge>}
                {saved !== null && !editor.isChanged && (
                  <RemovePolicy tunnel={tunnel} saved={saved} onRemoved={removed} />
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
      </Panel>
      {tunnel.protocol !== 'tcp' && (
        <PolicyTestPanel
          tunnel={tunnel}
          policy={policyIn(editor.draft)}
          isSaved={!editor.isChanged}
          isComplete={() => editor.toSend() !== undefined}
          onRefused={editor.refused}
        />
      )}
    </Stack>
  );
}

type Editor = ReturnType<typeof useEditor>;

/** Text that can't be read as a policy has no form. */
function FormOrText({ editor }: { readonly editor: Editor }) {
  return (
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
  );
}

interface BodyProps {
  readonly tunnel: Tunnel;
  readonly editor: Editor;
  readonly dryRuns: readonly DryRun[];
  readonly mayChange: boolean;
}

/** The text, the actions, or what stands where there are none. */
function PolicyBody({ tunnel, editor, dryRuns, mayChange }: BodyProps) {
  const { draft, text, textFault } = editor;
  if (text !== null) return <JsonView text={text} fault={textFault} isReadOnly={!mayChange} onChange={editor.type} />;
  if (policyIn(draft).actions.length > 0)
    return (
      <ActionList draft={draft} editor={editor} dryRuns={editor.isChanged ? [] : dryRuns} isReadOnly={!mayChange} />
    );
  if (mayChange)
    return (
      <FirstPolicy protocol={tunnel.protocol} onPick={(example) => editor.edit(withNew(draft, example.actions))} />
    );
  return (
    <Text size="sm">
      This tunnel has no policy, so all visitors are allowed. Members of your organization can add one.
    </Text>
  );
}

interface RemoveProps {
  readonly tunnel: Tunnel;
  readonly saved: Policy;
  readonly onRemoved: () => void;
}

function RemovePolicy({ tunnel, saved, onRemoved }: RemoveProps) {
  const [asks, setAsks] = useState(false);
  const remove = useRemovePolicy(tunnel.id, saved, () => {
    setAsks(false);
    onRemoved();
  });
  return (
    <>
      <Button variant="subtle" color="red" c="var(--mantine-color-error)" onClick={() => setAsks(true)}>
        Remove policy
      </Button>
      <Confirm
        title={`Remove the policy from ${tunnel.subdomain}?`}
        action="Remove policy"
        opened={asks}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => {
          setAsks(false);
          remove.reset();
        }}
      >
        Applies immediately. Password, visitor login and maintenance stay as they are.
      </Confirm>
    </>
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
