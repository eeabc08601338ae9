/** The projects page: the list, and the dialog for a new project. */
import { Anchor, Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { Ago } from '../../parts/time/ago.tsx';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { countText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/forms/search-box.tsx';
import { useServerPlace } from '../../api/server-place.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { PROJECTS, useProjects } from './project-query.ts';
import { hostIn, isSlug, SLUG_RULE, slugFrom } from './project-slug.ts';

type Project = Schemas['Project'];

const COLUMNS: ReadonlyArray<Column<Project>> = [
  {
    key: 'name',
    title: 'Project',
    cell: ({ slug, name }) => (
      <Anchor component={Link} href={`/projects/${slug}`} inherit fw={600}>
        {name}
      </Anchor>
    ),
  },
  {
    key: 'names',
    title: 'Tunnel names',
    cell: ({ slug, isDefault }) => <span className="culvert-mono">{isDefault ? 'name' : `name-${slug}`}</span>,
  },
  { key: 'tunnels', title: 'Tunnels', align: 'right', cell: ({ tunnels }) => countText(tunnels) },
  { key: 'tokens', title: 'Live keys', align: 'right', cell: ({ tokens }) => countText(tokens) },
  { key: 'made', title: 'Created', cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

export function ProjectsPage() {
  const projects = useProjects();
  const mayMake = useMay('member');
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Page
      title="Projects"
      about="A project is a namespace: its tunnels are named name-slug, and its keys open no other tunnels."
      actions={
        mayMake && (
          <Button leftSection={<IconPlus size={16} />} onClick={open}>
            New project
          </Button>
        )
      }
    >
      <Loaded query={projects}>{(all) => <Listed all={all} />}</Loaded>
      <NewProject opened={opened} onClose={close} />
    </Page>
  );
}

function Listed({ all }: { readonly all: readonly Project[] }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const shown = all.filter(({ slug, name }) => slug.includes(wanted) || name.toLowerCase().includes(wanted));
  return (
    <Stack gap="sm">
      <SearchBox
        label="Search projects"
        placeholder="Name or slug"
        among={all.length}
        value={text}
        onChange={setText}
      />
      {shown.length === 0 ? (
        <Text c="dimmed" size="sm" role="status">
          No projects match.
        </Text>
      ) : (
        <Table label="Projects" rows={shown} rowKey={({ id }) => id} columns={COLUMNS} />
      )}
      {all.length === 1 && (
        <Text c="dimmed" size="sm">
          Tunnels of the default project have no suffix. Create a project for each product or team to keep their keys
          and tunnels apart.
        </Text>
      )}
    </Stack>
  );
}

interface NewProjectProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Makes a project. Its slug never changes, so the dialog shows what it does to names. */
function NewProject({ opened, onClose }: NewProjectProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New project">
      <ProjectForm onClose={onClose} />
    </Modal>
  );
}

function ProjectForm({ onClose }: Pick<NewProjectProps, 'onClose'>) {
  const { client } = useApi();
  const [, go] = useLocation();
  const domain = useServerPlace().data?.edge_domain ?? 'your domain';
  const [message, setMessage] = useState<string>();
  const [isOwnSlug, setOwnSlug] = useState(false);
  const form = useForm({
    initialValues: { name: '', slug: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name for the project.' : null),
      slug: (slug) => (isSlug(slug) ? null : `A slug has ${SLUG_RULE}.`),
    },
  });
  const make = useAction({
    run: (body: Schemas['NewProject']) => answered(client.POST('/projects', { body })),
    touches: [PROJECTS],
    onDone: ({ slug }) => go(`/projects/${slug}`),
    tellsFailure: true,
  });
  const submit = form.onSubmit(({ name, slug }) => {
    setMessage(undefined);
    make.mutate({ name: name.trim(), slug }, { onError: (error) => setMessage(showFaults(form, error)) });
  });
  const { slug } = form.values;
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <TextInput
          label="Name"
          placeholder="Web shop"
          data-autofocus
          {...form.getInputProps('name')}
          onChange={(event) => {
            const name = event.currentTarget.value;
            form.setFieldValue('name', name);
            if (!isOwnSlug) form.setFieldValue('slug', slugFrom(name));
          }}
        />
        <TextInput
          label="Slug"
          description="The suffix of its tunnel names. You can't change it later."
          placeholder="web-shop"
          {...form.getInputProps('slug')}
          onChange={(event) => {
            setOwnSlug(true);
            form.setFieldValue('slug', event.currentTarget.value);
          }}
        />
        {isSlug(slug) && (
          <Text size="sm" c="dimmed">
            A tunnel named pr-7 in this project has the host name{' '}
            <span className="culvert-mono">{hostIn({ slug, isDefault: false }, 'pr-7', domain)}</span>
          </Text>
        )}
        <FormEnd action="Create project" refused={message} isBusy={make.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
