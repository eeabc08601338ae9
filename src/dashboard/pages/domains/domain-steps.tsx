/** The steps of a domain, in order: verification, DNS, tunnel, certificate. */
import { Box, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed, IconInfoCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Tunnel } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useServerPlace } from '../../api/server-place.ts';
import { BindStep } from './bind-step.tsx';
import { CertificateStep } from './certificate-step.tsx';
import { DnsRecord } from './dns-record.tsx';
import { DOMAINS } from './domain-query.ts';
import { type Domain, hostOf, pointerOf } from './domain-state.ts';
import { VerifyStep } from './verify-step.tsx';

interface DomainStepsProps {
  readonly domain: Domain;
  /** Undefined: it is not known which there are. */
  readonly tunnels: readonly Tunnel[] | undefined;
}

export function DomainSteps({ domain, tunnels }: DomainStepsProps) {
  const mayChange = useMay('member');
  const deletion = useAsked<Domain>();
  const { verified, verifiedAt, boundTunnelId, certificate } = domain;
  const bound = tunnels?.find(({ id }) => id === boundTunnelId);
  return (
    <Stack gap="lg">
      <Step title="Verify ownership" isDone={verified}>
        {verified ? (
          <Text size="sm">
            Verified <Ago at={verifiedAt} />. Keep the TXT record: it is checked daily. After three days without it, the
            domain is released.
          </Text>
        ) : (
          <VerifyStep domain={domain} />
        )}
      </Step>
      <Step title="Point DNS here">
        <PointStep domain={domain} bound={bound} />
      </Step>
      <Step title="Bind a tunnel" isDone={boundTunnelId !== null}>
        <BindStep domain={domain} tunnels={tunnels} bound={bound} />
      </Step>
      <Step title="Certificate" {...(certificate === null ? {} : { isDone: certificate.state === 'valid' })}>
        <CertificateStep certificate={certificate} isBound={boundTunnelId !== null} />
      </Step>
      {mayChange && (
        <Group justify="flex-end">
          <Button variant="default" c="var(--mantine-color-error)" onClick={() => deletion.ask(domain)}>
            Delete domain
          </Button>
        </Group>
      )}
      <DeleteDomain asked={deletion} />
    </Stack>
  );
}

interface StepProps {
  readonly title: string;
  /** Undefined where the server does not know. */
  readonly isDone?: boolean;
  readonly children: ReactNode;
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <Group gap="sm" align="flex-start" wrap="nowrap">
      <Sign isDone={isDone} />
      <Stack gap="xs" flex={1} miw={0}>
        <Title order={3} size="h6">
          {title}
        </Title>
        {children}
      </Stack>
    </Group>
  );
}

function Sign({ isDone }: { readonly isDone: boolean | undefined }) {
  if (isDone === true)
    return (
      <Box c="culvert.7" lh={1}>
        <IconCircleCheckFilled size={20} aria-label="Done:" role="img" />
      </Box>
    );
  const Mark = isDone === false ? IconCircleDashed : IconInfoCircle;
  return (
    <Box c="dimmed" lh={1}>
      <Mark size={20} aria-hidden />
    </Box>
  );
}

function PointStep({ domain, bound }: { readonly domain: Domain; readonly bound: Tunnel | undefined }) {
  const place = useServerPlace();
  const host = (bound === undefined ? undefined : hostOf(bound.publicUrl)) ?? place.data?.edge_domain;
  const pointer = host === undefined ? undefined : pointerOf(domain, host);
  if (pointer === undefined)
    return (
      <Text size="sm">
        Point {domain.domain} at this server with an A, AAAA or CNAME record.
        {host !== undefined && ' This server has no public domain yet. Its operator must set edge.domain.'}
      </Text>
    );
  return (
    <>
      <DnsRecord {...pointer} />
      <Text size="sm" c="dimmed">
        At the root of a zone, which can&apos;t have a CNAME, use an ALIAS record of your DNS provider, or A and AAAA
        records with the addresses of {pointer.value}.
      </Text>
    </>
  );
}

/** Asks before a domain goes. */
function DeleteDomain({ asked: { row: domain, opened, close } }: { readonly asked: Asked<Domain> }) {
  const { client } = useApi();
  const remove = useAction({
    run: (id: string) => answered(client.DELETE('/domains/{id}', { params: { path: { id } } })),
    touches: [DOMAINS],
    onDone: close,
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Delete the domain ${domain?.domain ?? ''}?`}
      action="Delete domain"
      opened={opened}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => domain !== undefined && remove.mutate(domain.id)}
      onClose={() => {
        remove.reset();
        close();
      }}
    >
      {typeof domain?.boundTunnelId === 'string' && 'Its tunnel stops serving it immediately. '}
      {domain?.verified === true
        ? 'Your organization can add it again at any time, with a new TXT record. Other organizations can verify it after 24 hours.'
        : 'You can add it again at any time, with a new TXT record.'}
    </Confirm>
  );
}
