/** One webhook receiver: its address, deliveries and forwarding, and the dialog to delete it. */
import { Alert, Anchor, Button, Group, Text } from '@mantine/core';
import { IconAlertTriangle, IconKey, IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { Ago } from '../../parts/time/ago.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { DeleteDialog } from '../../parts/dialogs/delete-dialog.tsx';
import { DetailPage } from '../../parts/detail-page.tsx';
import { countText } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { DeliveriesPanel } from './deliveries-panel.tsx';
import { useOpened } from '../../parts/dialogs/opened.ts';
import { readCommand } from './delivery-labels.ts';
import { EditReceiver, NewSecret } from './edit-receiver.tsx';
import { ForwardPanel } from './forward-panel.tsx';
import { FailingNotice, WarningNotice } from './receiver-notices.tsx';
import { SendTest } from './send-test.tsx';
import { RECEIVERS, useReceiver } from './receiver-queries.ts';
import {
  hasWorked,
  hintFor,
  isAlarming,
  isRefusing,
  reasonsText,
  refusedSince,
  strayHintFor,
  wordsOf,
} from './refusals.ts';
import { type Receiver, senderOf } from './senders.ts';

export function ReceiverPage() {
  const { id = '' } = useParams();
  return (
    <DetailPage query={useReceiver(id)} title="Webhook receiver" list="/webhooks">
      {(receiver) => <Shown key={id} receiver={receiver} />}
    </DetailPage>
  );
}

function Shown({ receiver }: { readonly receiver: Receiver }) {
  const mayChange = useMay('member');
  const [dialog, setDialog] = useState<'edit' | 'secret' | 'delete'>();
  const close = (): void => setDialog(undefined);
  const opened = useOpened('delivery');
  const { name, validator, received, displaced, refused, last_received_at: last } = receiver;
  const sender = senderOf(validator);
  return (
    <Page
      title={name}
      about={
        <>
          Webhooks from {sender.value.startsWith('generic_') ? 'another sender' : sender.label}
          {received > 0 && (
            <>
              : {countText(received)} received, last <Ago at={last} />
            </>
          )}
          {displaced > 0 && `; ${countText(displaced)} of them deleted to make room for newer ones`}
          {refused.total > 0 && !isRefusing(receiver) && (
            <>
              ; {countText(refused.total)} rejected ({reasonsText(refused)}), last <Ago at={refused.last_at} />
            </>
          )}
        </>
      }
      actions={
        mayChange && (
          <>
            <SendTest receiver={receiver} onSent={opened.open} />
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setDialog('edit')}>
              Edit
            </Button>
            <Button variant="default" leftSection={<IconKey size={16} />} onClick={() => setDialog('secret')}>
              New secret
            </Button>
            <Button
              variant="default"
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDialog('delete')}
            >
              Delete
            </Button>
          </>
        )
      }
    >
      <WarningNotice receiver={receiver} />
      <FailingNotice receiver={receiver} onOpen={opened.open} />
      <RefusedNotice receiver={receiver} onNewSecret={mayChange ? () => setDialog('secret') : undefined} />
      <Panel title="URL" about={received === 0 ? sender.setup : undefined}>
        <CopyLine value={receiver.url} what="the URL" />
        {validator === 'github' && (
          <>
            <Text size="sm" c="dimmed" mt="xs" mb={4}>
              Meta signs as GitHub does. It also requests this verify token:
            </Text>
            <CopyLine value={receiver.verify_token} what="the verify token" />
          </>
        )}
      </Panel>
      <ForwardPanel receiver={receiver} />
      <DeliveriesPanel receiver={receiver} opened={opened} />
      <ByProgram id={receiver.id} />
      <EditReceiver receiver={receiver} opened={dialog === 'edit'} onClose={close} />
      <NewSecret receiver={receiver} opened={dialog === 'secret'} onClose={close} />
      <DeleteReceiver receiver={receiver} opened={dialog === 'delete'} onClose={close} />
    </Page>
  );
}

function ByProgram({ id }: { readonly id: string }) {
  const { url } = useApi();
  return (
    <Panel title="Via API">
      <Text size="sm" c="dimmed">
        Reads deliveries, oldest first, with a key from{' '}
        <Anchor component={Link} href="/keys" inherit underline="always">
          Keys
        </Anchor>{' '}
        in CULVERT_TOKEN. For the next deliveries, add <span className="culvert-mono">&amp;after=</span> and the ID of
        your last delivery. The request waits if there is none yet.
      </Text>
      <CopyLine value={readCommand(url, id)} what="the command" />
    </Panel>
  );
}

interface RefusedNoticeProps {
  readonly receiver: Receiver;
  /** Undefined: they may not change it. */
  readonly onNewSecret: (() => void) | undefined;
}

/** Above a receiver that has refused what came last: how much, why, and what to look at. Calm where it has worked and little was refused since. */
function RefusedNotice({ receiver, onNewSecret }: RefusedNoticeProps) {
  const { refused } = receiver;
  const { last_at: at, last_reason: reason } = refused;
  if (reason === null || !isRefusing(receiver)) return null;
  const worked = hasWorked(receiver);
  const count = countText(refusedSince(receiver));
  return (
    <Alert
      color={isAlarming(receiver) ? 'yellow' : 'gray'}
      icon={<IconAlertTriangle size={18} />}
      role="region"
      aria-label="Rejected deliveries"
    >
      <Group justify="space-between" gap="sm">
        <div className="culvert-notice-words">
          <Text size="sm" fw={600}>
            {worked
              ? `${count} rejected since the last accepted delivery: ${wordsOf(reason)}, `
              : `${count} rejected: ${reasonsText(refused)}, last `}
            <Ago at={at} />
          </Text>
          <Text size="sm">
            {worked ? strayHintFor(reason, receiver) : hintFor(reason, receiver)} Rejected deliveries are not stored.
          </Text>
        </div>
        {!worked && reason === 'signature_wrong' && onNewSecret !== undefined && (
          <Button variant="default" size="xs" className="culvert-touch" onClick={onNewSecret}>
            New secret
          </Button>
        )}
      </Group>
    </Alert>
  );
}

interface DeleteReceiverProps {
  readonly receiver: Receiver;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Asks before a receiver is deleted with all that it holds. */
function DeleteReceiver({ receiver: { id, name, stored, waiting }, opened, onClose }: DeleteReceiverProps) {
  const { client } = useApi();
  const held =
    stored === 1 ? 'Its stored delivery is deleted' : `Its ${countText(stored)} stored deliveries are deleted`;
  return (
    <DeleteDialog
      what="receiver"
      name={name}
      opened={opened}
      onClose={onClose}
      run={() => answered(client.DELETE('/webhook-receivers/{id}', { params: { path: { id } } }))}
      list="/webhooks"
      listKey={RECEIVERS}
      id={id}
    >
      Senders get 404. {stored > 0 && `${held} with it`}
      {stored > 0 && waiting > 0 && `, ${countText(waiting)} of which are not delivered yet`}
      {stored > 0 && '.'}
    </DeleteDialog>
  );
}
