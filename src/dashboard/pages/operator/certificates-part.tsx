/** Certificates that come by ACME: how each stands, and asking for one now. */
import { Button, Stack, Text } from '@mantine/core';
import { IconCertificate } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { Empty } from '../../parts/empty.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Tone } from '../../parts/tone.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';
import { PAGE_ROWS, Paged } from './paged.tsx';

type Certificate = Schemas['OperatedCertificate'];

const STATES: Readonly<Record<Certificate['state'], readonly [tone: Tone, words: string]>> = {
  none: ['quiet', 'not requested'],
  pending: ['info', 'requested'],
  valid: ['good', 'valid'],
  failed: ['bad', 'failed'],
};

export function CertificatesPart() {
  const { client } = useApi();
  const asked = useAsked<Certificate>();
  return (
    <>
      <Paged
        queryKey={['superadmin', 'certificates']}
        ask={(after, signal) => {
          const query = { limit: PAGE_ROWS, ...(after === undefined ? {} : { after }) };
          return answered(client.GET('/superadmin/certificates', { params: { query }, signal }));
        }}
        cursorOf={({ name }: Certificate) => name}
      >
        {(certificates) =>
          certificates.length === 0 ? (
            <Empty icon={IconCertificate} title="No ACME certificates">
              With edge.tls.mode “acme”, the server requests a certificate for its own domain and for each custom domain
              with a tunnel. In other modes it uses the certificate from its settings.
            </Empty>
          ) : (
            <Table
              isPaged
              label="Certificates"
              rows={certificates}
              rowKey={({ name }) => name}
              columns={columnsFor(asked.ask)}
            />
          )
        }
      </Paged>
      <RenewDialog certificate={asked.row} opened={asked.opened} onClose={asked.close} />
    </>
  );
}

function Name({ certificate: { name, lastError } }: { readonly certificate: Certificate }) {
  return (
    <Stack gap={2}>
      <Text size="sm" fw={500}>
        {name}
      </Text>
      {lastError !== null && (
        <Text size="xs" c="error">
          {lastError}
        </Text>
      )}
    </Stack>
  );
}

interface RenewDialogProps {
  readonly certificate: Certificate | undefined;
  readonly opened: boolean;
  readonly onClose: () => void;
}

function RenewDialog({ certificate, opened, onClose }: RenewDialogProps) {
  const { client } = useApi();
  const renew = useAction({
    run: (name: string) =>
      answered(client.POST('/superadmin/certificates/{name}/renew', { params: { path: { name } } })),
    done: ({ name }) => `Certificate requested for ${name}. The list shows the result.`,
    touches: [['superadmin', 'certificates']],
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Renew the certificate for ${certificate?.name ?? ''} now?`}
      action="Renew now"
      opened={opened}
      isBusy={renew.isPending}
      error={renew.error}
      onConfirm={() => certificate !== undefined && renew.mutate(certificate.name)}
      onClose={() => {
        renew.reset();
        onClose();
      }}
    >
      Authorities limit certificates per name and week. The current certificate stays in use until the new one arrives.
    </Confirm>
  );
}

function columnsFor(onRenew: (certificate: Certificate) => void): ReadonlyArray<Column<Certificate>> {
  return [
    { key: 'name', title: 'Name', cell: (row) => <Name certificate={row} /> },
    {
      key: 'state',
      title: 'State',
      cell: ({ state }) => <StateBadge tone={STATES[state][0]}>{STATES[state][1]}</StateBadge>,
    },
    { key: 'until', title: 'Expires', cell: (row) => <Ago at={row.expiresAt} never="–" /> },
    { key: 'next', title: 'Next attempt', cell: (row) => <Ago at={row.nextAttemptAt} never="–" /> },
    { key: 'failures', title: 'Failures in a row', align: 'right', cell: ({ failures }) => countText(failures) },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (row) => (
        <Button variant="subtle" size="sm" onClick={() => onRenew(row)} aria-label={`Renew ${row.name} now`}>
          Renew now
        </Button>
      ),
    },
  ];
}
