/** For those who run the server: accounts, organizations, how it fares, certificates, signing keys, and what operators did. */
import { Tabs } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { useLocation, useParams } from 'wouter';
import { useAccount } from '../../api/context.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { AuditPart } from './audit-part.tsx';
import { CertificatesPart } from './certificates-part.tsx';
import { InstancePart } from './instance/instance-part.tsx';
import { KeysPart } from './keys-part.tsx';
import { OrgsPart } from './orgs-part.tsx';
import { ServerPart } from './server-part.tsx';
import { UsersPart } from './users-part.tsx';

const PARTS = [
  { name: 'server', title: 'Server', Part: ServerPart },
  { name: 'instance', title: 'Instance', Part: InstancePart },
  { name: 'users', title: 'Users', Part: UsersPart },
  { name: 'organizations', title: 'Organizations', Part: OrgsPart },
  { name: 'certificates', title: 'Certificates', Part: CertificatesPart },
  { name: 'keys', title: 'Signing keys', Part: KeysPart },
  { name: 'audit', title: 'Audit log', Part: AuditPart },
] as const satisfies ReadonlyArray<{ readonly Part: ComponentType; readonly [more: string]: unknown }>;

export function OperatorPage() {
  const { is_superadmin: isOperator } = useAccount();
  const { part } = useParams<{ part?: string }>();
  const [, navigate] = useLocation();
  if (!isOperator)
    return (
      <Page title="Operator">
        <Empty icon={IconLock} title="Operators only">
          To get access, ask an operator to grant you the role here or with “culvert admin”.
        </Empty>
      </Page>
    );
  const shown = PARTS.find(({ name }) => name === part) ?? PARTS[0];
  return (
    <Page
      title="Operator"
      about="The whole server and all its organizations. Your actions here are recorded in the audit log."
    >
      <Tabs value={shown.name} onChange={(name) => navigate(`/operator/${name ?? ''}`)} keepMounted={false}>
        <Tabs.List mb="md">
          {PARTS.map(({ name, title }) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {PARTS.map(({ name, Part }) => (
          <Tabs.Panel key={name} value={name}>
            <Part />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
