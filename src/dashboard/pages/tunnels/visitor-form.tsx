/** The visitors that Visitor login allows: a list of domains and one of addresses. */
import { Button, Group, Stack, TagsInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { showFaults } from '../../parts/form-failure.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { listFaults, tidyDomains, tidyEmails, type VisitorLists } from './visitor-lists.ts';
import { usePutVisitorGate } from './use-visitor-actions.ts';

interface VisitorFormProps {
  readonly tunnelId: string;
  readonly isOn: boolean;
  readonly lists: VisitorLists;
  /** Another button beside the form's own. */
  readonly children: ReactNode;
}

const SPLITS = [',', ';', ' '];

export function VisitorForm({ tunnelId, isOn, lists, children }: VisitorFormProps) {
  const [isRefused, setRefused] = useState(false);
  const form = useForm({
    initialValues: { allowed_domains: [...lists.allowed_domains], allowed_emails: [...lists.allowed_emails] },
    validate: listFaults,
  });
  const put = usePutVisitorGate(tunnelId, isOn);
  const send = (body: { allowed_domains: string[]; allowed_emails: string[] }): void => {
    setRefused(false);
    put.mutate(body, {
      onSuccess: () => form.resetDirty(body),
      onError: (error) => setRefused(showFaults(form, error) !== undefined),
    });
  };
  const { allowed_domains: domains, allowed_emails: emails } = form.values;
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack gap="sm">
        <TagsInput
          label="Allowed domains"
          description="What stands behind the @, exactly: subdomains are others. Enter or a comma ends one."
          placeholder={domains.length === 0 ? 'example.com' : ''}
          splitChars={SPLITS}
          {...form.getInputProps('allowed_domains')}
          onChange={(entries) => form.setFieldValue('allowed_domains', tidyDomains(entries))}
        />
        <TagsInput
          label="Allowed addresses"
          description="Your service gets the visitor's address in the header Culvert-Visitor-Email."
          placeholder={emails.length === 0 ? 'ann@partner.example' : ''}
          splitChars={SPLITS}
          {...form.getInputProps('allowed_emails')}
          onChange={(entries) => form.setFieldValue('allowed_emails', tidyEmails(entries))}
        />
        {isRefused && <FailureAlert error={put.error} />}
        <Group gap="xs">
          <Button type="submit" loading={put.isPending} disabled={isOn && !form.isDirty()}>
            {isOn ? 'Save lists' : 'Ask visitors to sign in'}
          </Button>
          {children}
        </Group>
      </Stack>
    </form>
  );
}
