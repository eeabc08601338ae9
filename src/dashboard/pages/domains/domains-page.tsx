/** The domains page: the list of custom domains, and the dialog to add one. */
import { Accordion, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconWorldWww } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Empty } from '../../parts/empty.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { DOMAINS, useDomains, useTunnels } from './domain-query.ts';
import { type Domain, stateOf } from './domain-state.ts';
import { DomainSteps } from './domain-steps.tsx';

export function DomainsPage() {
  const domains = useDomains();
  const mayAdd = useMay('member');
  const [opened, { open, close }] = useDisclosure(false);
  // What is open: one that was just added shows what to do.
  const [shown, setShown] = useState<string[]>([]);
  const button = mayAdd && (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      Add domain
    </Button>
  );
  return (
    <Page title="Domains" about="Serve a tunnel on your own domain, with its own certificate." actions={button}>
      <Loaded query={domains}>
        {(all) =>
          all.length === 0 ? (
            <Empty icon={IconWorldWww} title="No domains yet" action={button}>
              Add a domain that you own, such as shop.example.net. Verify it with a DNS record, point it here with a
              second one, and bind a tunnel.
            </Empty>
          ) : (
            <Listed all={all} shown={shown} onShow={setShown} />
          )
        }
      </Loaded>
      <AddDomain opened={opened} onClose={close} onAdded={({ id }) => setShown((now) => [...now, id])} />
    </Page>
  );
}

interface ListedProps {
  readonly all: readonly Domain[];
  readonly shown: string[];
  readonly onShow: (ids: string[]) => void;
}

function Listed({ all, shown, onShow }: ListedProps) {
  const tunnels = useTunnels().data;
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = all.filter(({ domain }) => domain.includes(wanted));
  return (
    <Stack gap="sm">
      <SearchBox label="Search domains" placeholder="Domain" among={all.length} value={text} onChange={setText} />
      {found.length === 0 && (
        <Text c="dimmed" size="sm" role="status">
          No domains match.
        </Text>
      )}
      <Accordion className="culvert-cards" multiple variant="separated" order={2} value={shown} onChange={onShow}>
        {found.map((domain) => {
          const { tone, words } = stateOf(domain);
          const bound = tunnels?.find(({ id }) => id === domain.boundTunnelId);
          return (
            <Accordion.Item key={domain.id} value={domain.id}>
              <Accordion.Control>
                <Group gap="xs" justify="space-between" pr="sm">
                  <div>
                    <Text fw={600} className="culvert-wrap">
                      {domain.domain}
                    </Text>
                    {bound !== undefined && (
                      <Text size="sm" c="dimmed">
                        served by {bound.subdomain}
                      </Text>
                    )}
                  </div>
                  <StateBadge tone={tone}>{words}</StateBadge>
                </Group>
              </Accordion.Control>
              <Accordion.Panel>
                <DomainSteps domain={domain} tunnels={tunnels} />
              </Accordion.Panel>
            </Accordion.Item>
          );
        })}
      </Accordion>
    </Stack>
  );
}

interface AddDomainProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onAdded: (domain: Domain) => void;
}

/** Adds a domain, which then says what it needs. */
function AddDomain({ opened, onClose, onAdded }: AddDomainProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="Add domain">
      <DomainForm onClose={onClose} onAdded={onAdded} />
    </Modal>
  );
}

function DomainForm({ onClose, onAdded }: Omit<AddDomainProps, 'opened'>) {
  const { client } = useApi();
  const [message, setMessage] = useState<string>();
  const form = useForm({
    initialValues: { domain: '' },
    validate: { domain: (domain) => (domain.trim() === '' ? 'Enter a domain, such as shop.example.net.' : null) },
  });
  const add = useAction({
    run: (body: Schemas['NewDomain']) => answered(client.POST('/domains', { body })),
    touches: [DOMAINS],
    onDone: (domain) => {
      onAdded(domain);
      onClose();
    },
    tellsFailure: true,
  });
  const submit = form.onSubmit(({ domain }) => {
    setMessage(undefined);
    add.mutate({ domain: domain.trim() }, { onError: (error) => setMessage(showFaults(form, error)) });
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Domain"
          description="A full name that you own, without wildcards. Add each name separately."
          placeholder="shop.example.net"
          autoCapitalize="none"
          data-autofocus
          {...form.getInputProps('domain')}
        />
        <FormEnd action="Add domain" refused={message} isBusy={add.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
