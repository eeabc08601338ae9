/** The visitor login of a tunnel: its state, and the form with the lists of allowed visitors. */
import { Alert, Button, Group, Stack, TagsInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useAccount, useMay } from '../../api/context.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { FailureAlert, Loaded } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PlanLink } from '../../parts/links.tsx';
import { listFaults, tidyDomains, tidyEmails, type VisitorLists } from './access-values.ts';
import { OnOff } from './badges.tsx';
import { type TunnelDetail, useVisitorGate } from './tunnel-queries.ts';
import { usePutVisitorGate, useRemoveVisitorGate } from './use-visitor-gate.ts';

export function VisitorPanel({ tunnel }: { readonly tunnel: TunnelDetail }) {
  const { id, edgeAuthEnabled: isOn } = tunnel;
  const gate = useVisitorGate(id);
  const hasPlan = useAccount().entitlements.edge_auth;
  const mayChange = useMay('member');
  return (
    <Panel
      title="Visitor login"
      about="Visitors log in with the server's identity provider. Only visitors on your lists are allowed."
      actions={<OnOff on={isOn} />}
    >
      {!hasPlan && (
        <PlanLink>
          {isOn
            ? 'Your plan has no visitor login. You can only remove the current one.'
            : 'Your plan has no visitor login.'}
        </PlanLink>
      )}
      <Loaded query={gate} lines={2}>
        {({ warnings = [], ...lists }) => (
          <Stack gap="sm">
            {(isOn || mayChange) &&
              warnings.map((words) => (
                <Alert key={words} color="yellow" role="status">
                  {words}
                </Alert>
              ))}
            <Asking tunnel={tunnel} lists={lists} isBlocked={warnings.length > 0} />
          </Stack>
        )}
      </Loaded>
    </Panel>
  );
}

interface AskingProps {
  readonly tunnel: TunnelDetail;
  readonly lists: VisitorLists;
  /** The server has no identity provider: Visitor login would block all visitors. */
  readonly isBlocked: boolean;
}

function Asking({ tunnel, lists, isBlocked }: AskingProps) {
  const { id, edgeAuthEnabled: isOn } = tunnel;
  const hasPlan = useAccount().entitlements.edge_auth;
  if (!useMay('member')) return isOn && <Listed lists={lists} />;
  if (!hasPlan)
    return (
      isOn && (
        <>
          <Listed lists={lists} />
          <RemoveVisitors tunnel={tunnel} lists={lists} />
        </>
      )
    );
  if (isBlocked && !isOn)
    return (
      <Button disabled w="fit-content">
        Require visitor login
      </Button>
    );
  return (
    <VisitorForm
      key={JSON.stringify([isOn, lists.allowed_domains, lists.allowed_emails])}
      tunnelId={id}
      isOn={isOn}
      lists={lists}
    >
      {isOn && <RemoveVisitors tunnel={tunnel} lists={lists} />}
    </VisitorForm>
  );
}

function Listed({ lists }: { readonly lists: VisitorLists }) {
  const entries = [...lists.allowed_domains.map((domain) => `anyone at ${domain}`), ...lists.allowed_emails];
  return <Text size="sm">Allowed: {entries.join(', ')}.</Text>;
}

type RemoveProps = Pick<AskingProps, 'tunnel' | 'lists'>;

function RemoveVisitors({ tunnel: { id, subdomain }, lists }: RemoveProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useRemoveVisitorGate({ tunnelId: id, isOn: true, lists }, close);
  return (
    <>
      <Button variant="default" onClick={open} w="fit-content">
        Remove login
      </Button>
      <Confirm
        title={`Remove visitor login from ${subdomain}?`}
        action="Remove login"
        opened={opened}
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={() => {
          remove.reset();
          close();
        }}
      >
        Applies immediately: visitors no longer need to log in, and the lists are deleted. Other settings on this page
        still apply.
      </Confirm>
    </>
  );
}

interface VisitorFormProps {
  readonly tunnelId: string;
  readonly isOn: boolean;
  readonly lists: VisitorLists;
  /** Another button beside the form's own. */
  readonly children: ReactNode;
}

const SPLITS = [',', ';', ' '];

/** The visitors that Visitor login allows: a list of domains and one of addresses. */
function VisitorForm({ tunnelId, isOn, lists, children }: VisitorFormProps) {
  const [isRefused, setRefused] = useState(false);
  const form = useForm({
    initialValues: { allowed_domains: [...lists.allowed_domains], allowed_emails: [...lists.allowed_emails] },
    validate: listFaults,
  });
  const put = usePutVisitorGate({ tunnelId, isOn, lists });
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
          description="The exact part after the @; subdomains don't match. Press Enter or comma after each."
          placeholder={domains.length === 0 ? 'example.com' : ''}
          splitChars={SPLITS}
          {...form.getInputProps('allowed_domains')}
          onChange={(entries) => form.setFieldValue('allowed_domains', tidyDomains(entries))}
        />
        <TagsInput
          label="Allowed email addresses"
          description="Your service gets the visitor's email address in the header Culvert-Visitor-Email."
          placeholder={emails.length === 0 ? 'ann@partner.example' : ''}
          splitChars={SPLITS}
          {...form.getInputProps('allowed_emails')}
          onChange={(entries) => form.setFieldValue('allowed_emails', tidyEmails(entries))}
        />
        {isRefused && <FailureAlert error={put.error} />}
        <Group gap="xs">
          <Button type="submit" loading={put.isPending} disabled={isOn && !form.isDirty()}>
            {isOn ? 'Save lists' : 'Require visitor login'}
          </Button>
          {children}
        </Group>
      </Stack>
    </form>
  );
}
