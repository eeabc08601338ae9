/** What a tunnel is: what was chosen when it was made, and the certificate of its name. */
import { Anchor, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { certificateSaid } from '../domains/domain-state.ts';
import type { TunnelDetail } from './tunnel-queries.ts';

export function Facts({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { protocol, localPort, projectSlug, certificate } = tunnel;
  return (
    <Panel title="About it">
      <Stack gap={6}>
        <Fact name="Service">
          {protocol}, port {localPort}
        </Fact>
        <Fact name="Project">
          <Anchor component={Link} href={`/projects/${projectSlug}`} size="sm">
            {projectSlug}
          </Anchor>
        </Fact>
        {certificate !== null && <Certificate certificate={certificate} />}
      </Stack>
    </Panel>
  );
}

function Certificate({ certificate }: { readonly certificate: NonNullable<TunnelDetail['certificate']> }) {
  const { tone, words } = certificateSaid(certificate);
  return (
    <>
      <Fact name="Certificate">
        <StateBadge tone={tone}>{words}</StateBadge>
      </Fact>
      {certificate.lastError !== null && (
        <Text size="xs" c="dimmed">
          {certificate.lastError}
        </Text>
      )}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Group>
  );
}
