/** One project: its tunnels, its keys, its name, its end. */
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Schemas } from '../../api/types.ts';
import { DetailPage } from '../../parts/detail-page.tsx';
import { Page } from '../../parts/page.tsx';
import { useServerPlace } from '../../parts/server-place.ts';
import { DeleteProject } from './delete-project.tsx';
import { AGAIN_MS } from './project-query.ts';
import { ProjectKeys } from './project-keys.tsx';
import { hostIn } from './project-slug.ts';
import { ProjectTunnels } from './project-tunnels.tsx';
import { RenameProject } from './rename-project.tsx';

export function ProjectPage() {
  const { slug } = useParams<{ slug: string }>();
  const { client } = useApi();
  const project = useQuery({
    queryKey: ['projects', slug],
    queryFn: ({ signal }) => answered(client.GET('/projects/{slug}', { params: { path: { slug } }, signal })),
    // The question before its deletion counts what it has now.
    refetchInterval: AGAIN_MS,
  });
  return (
    <DetailPage query={project} title="Project" list="/projects">
      {(found) => <Shown project={found} />}
    </DetailPage>
  );
}

function Shown({ project }: { readonly project: Schemas['Project'] }) {
  const mayChange = useMay('member');
  const domain = useServerPlace().data?.edge_domain ?? 'your domain';
  const [renames, rename] = useDisclosure(false);
  const [deletes, deletion] = useDisclosure(false);
  const { name, slug, isDefault } = project;
  return (
    <Page
      title={name}
      about={
        isDefault
          ? 'The default project: it adds nothing to names, and stays.'
          : `A tunnel pr-7 of this project is at ${hostIn(project, 'pr-7', domain)}.`
      }
      actions={
        mayChange && (
          <>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={rename.open}>
              Rename
            </Button>
            {!isDefault && (
              <Button
                variant="default"
                c="var(--mantine-color-error)"
                leftSection={<IconTrash size={16} />}
                onClick={deletion.open}
              >
                Delete project
              </Button>
            )}
          </>
        )
      }
    >
      <ProjectTunnels project={project} />
      <ProjectKeys slug={slug} />
      <RenameProject project={project} opened={renames} onClose={rename.close} />
      <DeleteProject project={project} opened={deletes} onClose={deletion.close} />
    </Page>
  );
}
