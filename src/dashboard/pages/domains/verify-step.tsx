/** The TXT record that shows whose a domain is, and the look for it: by the button, and after that by itself for a while. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import { say, useAction } from '../../parts/action.ts';
import { DnsRecord } from './dns-record.tsx';
import { DOMAINS } from './domain-query.ts';
import type { Domain } from './domain-state.ts';

/** DNS changes take some minutes: after the user has asked, the check repeats so often and so long. */
const AGAIN_MS = 20_000;
const TRIES = 15;

export function VerifyStep({ domain }: { readonly domain: Domain }) {
  const mayChange = useMay('member');
  const { check, tries } = useCheck(domain);
  return (
    <Stack gap="xs">
      <Text size="sm">Add this record to the DNS of the domain and keep it there. It is not a secret.</Text>
      <DnsRecord {...domain.dnsRecord} />
      {check.isError && (
        <Alert color="yellow" variant="light" role="status">
          {failureFrom(check.error).message}
        </Alert>
      )}
      {mayChange && (
        <Group gap="sm">
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            Check now
          </Button>
          {check.isError && (
            <Text size="sm" c="dimmed">
              {tries < TRIES ? 'Checked every 20 seconds.' : 'Add the record, then check again.'}
            </Text>
          )}
        </Group>
      )}
    </Stack>
  );
}

function useCheck({ id, domain }: Domain) {
  const { client } = useApi();
  const [tries, setTries] = useState(0);
  const check = useAction({
    run: () => answered(client.POST('/domains/{id}/verify', { params: { path: { id } } })),
    touches: [DOMAINS],
    onDone: () => say(`${domain} is verified.`),
    tellsFailure: true,
  });
  const { isError, isPending, mutate } = check;
  useEffect(() => {
    if (!isError || isPending || tries >= TRIES) return;
    const timer = setTimeout(() => {
      // A hidden tab pauses, and resumes once visible.
      if (document.hidden) return setTries(tries);
      setTries(tries + 1);
      mutate();
    }, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isError, isPending, tries, mutate]);
  return { check, tries };
}
