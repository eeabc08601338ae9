/** Maintenance of a tunnel: the words for its visitors, as they will see them, on and off. */
import { Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { BeginMaintenance } from './tunnel-dialogs.tsx';
import { OnOff } from './badges.tsx';
import { useBeginMaintenance, useEndMaintenance } from './use-tunnel-actions.ts';
import type { TunnelDetail } from './tunnel-queries.ts';

const MAX_MESSAGE = 500;
/** The edge's own (data/faults/fault.ts). */
const OWN_WORDS = 'This site is under maintenance. Please try again later.';

export function MaintenancePanel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { maintenance, maintenanceMessage, protocol, online } = tunnel;
  const [draft, setDraft] = useState<string>();
  const [asking, ask] = useDisclosure(false);
  const begin = useBeginMaintenance({ tellsFailure: true });
  const end = useEndMaintenance();
  const mayChange = useMay('member');
  const message = draft ?? maintenanceMessage ?? '';
  const isNew = message !== (maintenanceMessage ?? '');
  return (
    <Panel
      title="Maintenance"
      about={
        protocol === 'tcp'
          ? 'Blocks all visitors. Ends when the agent disconnects or the server restarts.'
          : 'Visitors get 503 and your message. Ends when the agent disconnects or the server restarts.'
      }
      actions={<OnOff on={maintenance} />}
    >
      {mayChange && protocol !== 'tcp' && (
        <Textarea
          label="Message (optional)"
          description={`${message.length} of ${MAX_MESSAGE} characters. Shown as text.`}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          placeholder={OWN_WORDS}
          maxLength={MAX_MESSAGE}
          autosize
          minRows={2}
          maxRows={8}
          value={message}
          onChange={(event) => setDraft(event.currentTarget.value)}
        />
      )}
      {protocol !== 'tcp' && <Preview message={message} />}
      {begin.isError && <FailureAlert error={begin.error} />}
      {mayChange && (
        <Group gap="xs">
          {(!maintenance || isNew) && (
            <Button
              loading={begin.isPending}
              onClick={() =>
                online && !maintenance
                  ? ask.open()
                  : begin.mutate({ tunnel, message }, { onSuccess: () => setDraft(undefined) })
              }
            >
              {maintenance ? 'Change message' : 'Start maintenance'}
            </Button>
          )}
          {maintenance && (
            <Button variant={isNew ? 'default' : 'filled'} loading={end.isPending} onClick={() => end.mutate(tunnel)}>
              End maintenance
            </Button>
          )}
        </Group>
      )}
      <BeginMaintenance
        tunnel={tunnel}
        message={message}
        opened={asking}
        onClose={ask.close}
        onDone={() => setDraft(undefined)}
      />
    </Panel>
  );
}

/** The edge's page of this answer, in short. Programs get the words as JSON. */
function Preview({ message }: { readonly message: string }) {
  return (
    <Stack gap={4}>
      <Text size="xs" c="dimmed" id="maintenance-preview">
        Preview
      </Text>
      <Paper withBorder p="md" maw={448} role="group" aria-labelledby="maintenance-preview">
        <Text fw={600} c="var(--mantine-color-anchor)">
          503
        </Text>
        <Text fw={700} size="lg">
          Down for maintenance
        </Text>
        <Text mt="xs" className="culvert-wrap">
          {message === '' ? OWN_WORDS : message}
        </Text>
      </Paper>
    </Stack>
  );
}
