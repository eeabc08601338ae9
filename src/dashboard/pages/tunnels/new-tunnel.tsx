/** The dialog for a new tunnel. */
import { Button, Input, Modal, NumberInput, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import { failureFrom } from '../../api/failure.ts';
import type { Tunnel } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { useServerPlace } from '../../api/server-place.ts';
import {
  BLANK,
  bodyOf,
  faultsOf,
  type NewTunnelValues,
  PROTOCOLS,
  publicName,
  ttlChoices,
} from './new-tunnel-values.ts';
import { useProjects } from './tunnel-queries.ts';

/** Nothing for those who may only watch. */
export function NewTunnel() {
  const [opened, { open, close }] = useDisclosure(false);
  const [, navigate] = useLocation();
  if (!useMay('member')) return null;
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        New tunnel
      </Button>
      <Modal opened={opened} onClose={close} title="New tunnel" size="lg">
        <NewTunnelForm onMade={({ id }) => navigate(`/tunnels/${id}`)} onClose={close} />
      </Modal>
    </>
  );
}

interface NewTunnelFormProps {
  readonly onMade: (tunnel: Tunnel) => void;
  readonly onClose: () => void;
}

/** The form of a new tunnel; shows the public name while it is typed. */
function NewTunnelForm({ onMade, onClose }: NewTunnelFormProps) {
  const { client } = useApi();
  const queries = useQueryClient();
  const { max_tunnel_ttl_seconds: maxTtl } = useAccount().entitlements;
  const projects = useProjects().data ?? [];
  const [refusal, setRefusal] = useState<string>();
  const projectOf = ({ projectSlug }: NewTunnelValues) =>
    projects.find(({ slug, isDefault }) => (projectSlug === null ? isDefault : slug === projectSlug));
  const form = useForm<NewTunnelValues>({
    initialValues: BLANK,
    validate: (values) => faultsOf(values, projectOf(values)),
    validateInputOnBlur: true,
  });
  const { values } = form;
  const create = useAction({
    run: (input: NewTunnelValues) => answered(client.POST('/tunnels', { body: bodyOf(input) })),
    onDone: (tunnel) => {
      queries.setQueryData<readonly Tunnel[]>(['tunnels'], (list) => list && [tunnel, ...list]);
      onMade(tunnel);
    },
    touches: [['tunnels'], ['projects']],
    tellsFailure: true,
  });
  const send = (input: NewTunnelValues) => {
    setRefusal(undefined);
    create.mutate(input, {
      onError: (error) => {
        const { code, message } = failureFrom(error);
        if (code === 'duplicate_name') form.setFieldError('subdomain', message);
        else setRefusal(showFaults(form, error));
      },
    });
  };
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack>
        <Input.Wrapper label="Protocol" labelElement="div">
          <SegmentedControl
            fullWidth
            data={PROTOCOLS.map(({ value, label }) => ({ value, label }))}
            aria-label="Protocol"
            {...form.getInputProps('protocol')}
          />
          <Text size="xs" c="dimmed" mt={6}>
            {PROTOCOLS.find(({ value }) => value === values.protocol)?.about}
          </Text>
        </Input.Wrapper>
        <NumberInput
          label="Local port"
          description="The port of your service on the agent's machine."
          placeholder="3000"
          allowDecimal={false}
          allowNegative={false}
          hideControls
          data-autofocus
          {...form.getInputProps('localPort')}
        />
        {projects.length > 1 && (
          <Select
            label="Project"
            data={projects.map(({ slug, name, isDefault }) => ({
              value: slug,
              label: isDefault ? `${name} (no suffix)` : name,
            }))}
            allowDeselect={false}
            searchable={projects.length > 8}
            {...form.getInputProps('projectSlug')}
            value={projectOf(values)?.slug ?? null}
          />
        )}
        <NameField values={values} project={projectOf(values)} input={form.getInputProps('subdomain')} />
        <Select
          label="Expires"
          description="Counted from now, and from each start. The agent is then disconnected. You can start the tunnel again."
          data={[...ttlChoices(maxTtl)]}
          allowDeselect={false}
          {...form.getInputProps('ttlSeconds')}
        />
        <FormEnd action="Create tunnel" refused={refusal} isBusy={create.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

interface NameFieldProps {
  readonly values: NewTunnelValues;
  readonly project: { readonly slug: string; readonly isDefault: boolean } | undefined;
  readonly input: object;
}

function NameField({ values: { subdomain, protocol }, project, input }: NameFieldProps) {
  const edgeDomain = useServerPlace().data?.edge_domain;
  return (
    <Stack gap={6}>
      <TextInput
        label="Name (optional)"
        placeholder="random"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        {...input}
      />
      <Text size="xs" c="dimmed" aria-live="polite">
        {protocol === 'tcp' || edgeDomain === undefined ? (
          'Visitors connect to a port of the server. You see the port after you create the tunnel.'
        ) : (
          <>
            Public URL: <span className="culvert-mono">{publicName(subdomain, project, edgeDomain)}</span>
          </>
        )}
      </Text>
    </Stack>
  );
}
