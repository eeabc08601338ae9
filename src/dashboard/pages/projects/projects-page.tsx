/** Projects: namespaces of public names, and the keys that open tunnels in one of them alone. */
import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { countText } from '../../parts/format.ts';
import { NewProject } from './new-project.tsx';
import { useProjects } from './project-query.ts';

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
    title: 'Names of its tunnels',
    cell: ({ slug, isDefault }) => <span className="culvert-mono">{isDefault ? 'name' : `name-${slug}`}</span>,
  },
  { key: 'tunnels', title: 'Tunnels', align: 'right', cell: ({ tunnels }) => countText(tunnels) },
  { key: 'tokens', title: 'Live keys', align: 'right', cell: ({ tokens }) => countText(tokens) },
  { key: 'made', title: 'Made', cell: ({ createdAt }) => <Ago at={createdAt} /> },
];

export function ProjectsPage() {
  const projects = useProjects();
  const mayMake = useMay('member');
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <Page
      title="Projects"
      about="A project is a namespace: its tunnels are called name-slug, and a key for it opens no others."
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
          No project is called like that.
        </Text>
      ) : (
        <Table label="Projects" rows={shown} rowKey={({ id }) => id} columns={COLUMNS} />
      )}
      {all.length === 1 && (
        <Text c="dimmed" size="sm">
          The default project adds nothing to names. Create another one for each product or team whose keys must not
          reach the tunnels of the others.
        </Text>
      )}
    </Stack>
  );
}
