/** Requests for other tools: as an HTTP archive. Credentials are left out unless they are asked for. */
import { Button, Group, Modal, Stack, Switch, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../../api/client.ts';
import { useApi, useMay } from '../../../api/context.tsx';
import { useAction } from '../../../parts/action.ts';
import { saveBytes } from '../../../parts/download.tsx';
import { type Filter, queryOf } from '../filters/filter.ts';

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function SecretsSwitch({
  checked,
  onChange,
}: {
  readonly checked: boolean;
  readonly onChange: (on: boolean) => void;
}) {
  return (
    <Switch
      label="Include credentials and cookies"
      description="Anyone with them can act as the visitor."
      checked={checked}
      onChange={() => onChange(!checked)}
    />
  );
}

type Subject = { readonly id: string } | { readonly filter: Filter };

/** `subject`: one request, or those of a filter. */
export function ArchiveDialog({ subject, opened, onClose }: DialogProps & { readonly subject: Subject }) {
  const { client } = useApi();
  const may = useMay('member');
  const [isFull, setFull] = useState(false);
  const save = useAction({
    run: async () => {
      const secrets = isFull ? ('true' as const) : ('false' as const);
      const parseAs = 'blob' as const;
      if ('id' in subject)
        return answered(
          client.GET('/inspector/{id}/har', { params: { path: { id: subject.id }, query: { secrets } }, parseAs }),
        );
      const query = { ...queryOf(subject.filter, Date.now()), limit: 500, secrets };
      return answered(client.GET('/inspector/har', { params: { query }, parseAs }));
    },
    onDone: (archive: Blob) => {
      saveBytes(archive, 'id' in subject ? `${subject.id}.har` : 'culvert.har');
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Export as HAR">
      <Stack gap="sm">
        <Text size="sm">
          {'id' in subject
            ? 'A HAR file of this request, for browsers and other tools.'
            : 'A HAR file of the newest 500 requests that match the filters, up to 16 MB, for browsers and other tools.'}
        </Text>
        {may && <SecretsSwitch checked={isFull} onChange={setFull} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button loading={save.isPending} onClick={() => save.mutate()}>
            Save archive
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
