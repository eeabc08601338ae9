/** How the certificate of a domain stands. */
import { Group, Text } from '@mantine/core';
import { Ago } from '../../parts/ago.tsx';
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
        This server gets no certificates by itself. Over HTTPS visitors trust the domain only if its operator has given
        the edge a certificate that names it.
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
        {lastError === null ? 'It is renewed by itself' : 'The last renewal failed'}; this one ends{' '}
        <Ago at={expiresAt} />.
      </>
    );
  if (state === 'failed')
    return (
      <>
        None could be had. It is asked for again <Ago at={nextAttemptAt} never="later" />: see that the domain leads
        here and that no CAA record leaves the authority out.
      </>
    );
  if (state === 'pending') return 'It was asked for, and comes within seconds once the domain leads here.';
  return isBound
    ? 'It is asked for when the first visitor comes.'
    : 'It is made once the domain is verified and a tunnel answers for it.';
}
