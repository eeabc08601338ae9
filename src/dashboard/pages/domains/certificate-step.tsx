/** The state of a domain's certificate. */
import { Group, Text } from '@mantine/core';
import { Ago } from '../../parts/time/ago.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { certificateSaid, type Domain } from './domain-state.ts';

interface CertificateStepProps {
  readonly certificate: Domain['certificate'];
  readonly isBound: boolean;
}

export function CertificateStep({ certificate, isBound }: CertificateStepProps) {
  if (certificate === null)
    return (
      <Text size="sm" c="dimmed">
        This server does not issue certificates. For HTTPS, its operator must install a certificate for this domain.
      </Text>
    );
  const { tone, words } = certificateSaid(certificate);
  return (
    <>
      <Group gap="xs">
        <StateBadge tone={tone}>{words}</StateBadge>
        <Text size="sm">
          <Words certificate={certificate} isBound={isBound} />
        </Text>
      </Group>
      {certificate.lastError !== null && (
        <Text size="sm" c="dimmed" className="culvert-copy-text">
          {certificate.lastError}
        </Text>
      )}
    </>
  );
}

interface WordsProps {
  readonly certificate: NonNullable<Domain['certificate']>;
  readonly isBound: boolean;
}

function Words({ certificate: { state, expiresAt, nextAttemptAt, lastError }, isBound }: WordsProps) {
  if (state === 'valid')
    return (
      <>
        {lastError === null ? 'It renews automatically' : 'The last renewal failed'}; this certificate expires{' '}
        <Ago at={expiresAt} />.
      </>
    );
  if (state === 'failed')
    return (
      <>
        The certificate was not issued. Next attempt <Ago at={nextAttemptAt} never="later" />. Check that the domain
        points here and that no CAA record excludes the authority.
      </>
    );
  if (state === 'pending') return 'Requested. It is issued within seconds after the domain points here.';
  return isBound ? 'Requested on the first visit.' : 'Requested after the domain is verified and has a tunnel.';
}
