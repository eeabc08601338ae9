/** One webhook receiver: where senders deliver, what came, and where it is sent on to. */
import { Anchor, Button, Text } from '@mantine/core';
import { IconKey, IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useApi, useMay } from '../../api/context.tsx';
import { Ago } from '../../parts/ago.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { DetailPage } from '../../parts/detail-page.tsx';
import { Page } from '../../parts/page.tsx';
import { Panel } from '../../parts/panel.tsx';
import { countText } from '../../parts/format.ts';
import { DeleteReceiver } from './delete-receiver.tsx';
import { DeliveriesPanel } from './deliveries-panel.tsx';
import { readCommand } from './delivery-labels.ts';
import { EditReceiver, NewSecret } from './edit-receiver.tsx';
import { ForwardPanel } from './forward-panel.tsx';
import { useReceiver } from './receiver-queries.ts';
import { isRefusing, reasonsText } from './refusals.ts';
import { RefusedNotice } from './refused-notice.tsx';
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
  const { name, validator, received, displaced, refused, last_received_at: last } = receiver;
  const sender = senderOf(validator);
  return (
    <Page
      title={name}
      about={
        <>
          Webhooks of {sender.value === 'generic_hmac_sha256' ? 'another sender' : sender.label}
          {received > 0 && (
            <>
              : {countText(received)} received, the last <Ago at={last} />
            </>
          )}
          {displaced > 0 && `; ${countText(displaced)} of them went because newer ones needed their room`}
          {refused.total > 0 && !isRefusing(receiver) && (
            <>
              ; {countText(refused.total)} refused ({reasonsText(refused)}), the last <Ago at={refused.last_at} />
            </>
          )}
        </>
      }
      actions={
        mayChange && (
          <>
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
      <RefusedNotice receiver={receiver} onNewSecret={mayChange ? () => setDialog('secret') : undefined} />
      <Panel title="Address" about={received === 0 ? sender.setup : undefined}>
        <CopyLine value={receiver.url} what="the address" />
      </Panel>
      <ForwardPanel receiver={receiver} />
      <DeliveriesPanel receiver={receiver} />
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
        With a key from{' '}
        <Anchor component={Link} href="/keys" inherit underline="always">
          Keys
        </Anchor>{' '}
        in CULVERT_TOKEN, oldest first. Ask again with <span className="culvert-mono">&amp;after=</span> and the id of
        the last one that you have, and none comes twice; it waits for the next when there is none.
      </Text>
      <CopyLine value={readCommand(url, id)} what="the command" />
    </Panel>
  );
}
