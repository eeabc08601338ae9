/**
 * How an agent is connected: the exact command, with a key that is made here or for a machine that is logged in. On the overview of an empty
 * organization, and at a tunnel without an agent.
 */
import { Button, Code, Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { MintedToken } from '../../api/types.ts';
import { useAction } from '../action.ts';
import { CopyLine } from '../copy.tsx';
import { useShown } from '../dialogs/one-time-secret.tsx';
import { InstallLine } from './install-line.tsx';
import {
  agentCommand,
  type AgentCommand,
  loginCommand,
  nameInProject,
  hasKeyFile,
  keyPlaceholder,
  type ShellKind,
  type StartCommand,
  startCommandLine,
  withKey,
} from './agent-command.ts';

const KEY_DAYS = 30;
const KEY_TUNNELS = 5;

interface ConnectCommandProps extends Omit<AgentCommand, 'server'> {
  /** Names that the key may use, inside its project; the one of `subdomain` when not given, any when there is none. */
  readonly names?: readonly string[];
  readonly keyName?: string;
  /** Called when a command is on the screen that can be run. */
  readonly onShown?: () => void;
  /** Command of the tunnel's last agent: shown in place of a command that is made from the tunnel. */
  readonly start?: StartCommand | null;
  /** false: the page shows elsewhere how to install the agent. */
  readonly hasInstall?: boolean;
}

type Way = 'key' | 'login';

/** Not for viewers: the server makes them no key. */
export function ConnectCommand({
  names,
  keyName,
  onShown,
  start = null,
  hasInstall = true,
  ...wanted
}: ConnectCommandProps) {
  const { url: server } = useApi();
  const [way, setWay] = useState<Way>(start?.key?.is_login === true ? 'login' : 'key');
  const [shell, setShell] = useState<ShellKind>(shellHere);
  const mayPublish = useMay('member');
  // For as long as it is on the screen, and nowhere else.
  const [key, setKey] = useState<string>();
  const [isFresh, setFresh] = useState(false);
  useShown(key !== undefined);
  if (!mayPublish)
    return (
      <Text size="sm" c="dimmed">
        Viewers can&apos;t publish services. Ask an admin for the member role.
      </Text>
    );
  const command =
    start === null
      ? agentCommand({ ...wanted, server }, shell)
      : startCommandLine(start, { server, shell, hasKey: key !== undefined });
  return (
    <Stack gap="sm">
      {hasInstall && <InstallLine />}
      <Group gap="xs">
        <SegmentedControl
          value={way}
          onChange={(next) => {
            setWay(next);
            if (next === 'login') onShown?.();
            setFresh(false);
          }}
          data={[
            { value: 'key', label: 'With a key' },
            { value: 'login', label: 'Logged in' },
          ]}
          aria-label="Agent login"
        />
        <SegmentedControl
          value={shell}
          onChange={setShell}
          data={[
            { value: 'posix', label: 'Linux, macOS' },
            { value: 'powershell', label: 'Windows' },
          ]}
          aria-label="Operating system"
        />
      </Group>
      {way === 'login' && <ByLogin login={loginCommand(server, shell)} command={command} />}
      {way === 'key' && key === undefined && (
        <MakeKey
          line={start !== null && hasKeyFile(start) ? command : withKey(command, keyPlaceholder(start), shell)}
          start={start}
          wanted={wanted}
          names={names}
          name={keyName ?? 'agent'}
          onMade={({ apiKey }) => {
            setKey(apiKey);
            setFresh(true);
            onShown?.();
          }}
        />
      )}
      {way === 'key' && key !== undefined && <WithKey line={withKey(command, key, shell)} isFresh={isFresh} />}
    </Stack>
  );
}

/** `isFresh`: the button that made the key has just gone, and with it the keyboard's place. */
function WithKey({ line, isFresh }: { readonly line: string; readonly isFresh: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFresh) box.current?.focus();
  }, [isFresh]);
  return (
    <Stack gap={4} ref={box} tabIndex={-1} role="group" aria-label="Command with key" className="culvert-quiet">
      <CopyLine value={line} what="the command" />
      <Text size="xs" c="dimmed">
        The command contains the key. You won&apos;t see it again. Anyone with it can publish in your organization until
        it expires in {KEY_DAYS} days or you revoke it under Keys.
      </Text>
    </Stack>
  );
}

function ByLogin({ login, command }: { readonly login: string; readonly command: string }) {
  return (
    <Stack gap={4}>
      <Text size="sm">Log in once on that machine, and approve it in the browser.</Text>
      <CopyLine value={login} what="the command to log in" />
      <Text size="sm" mt={4}>
        Then run:
      </Text>
      <CopyLine value={command} what="the command" />
    </Stack>
  );
}

interface MakeKeyProps {
  readonly start: StartCommand | null;
  /** The command, with a placeholder where the key will be. */
  readonly line: string;
  readonly wanted: Omit<AgentCommand, 'server'>;
  readonly names: readonly string[] | undefined;
  readonly name: string;
  readonly onMade: (minted: MintedToken) => void;
}

function MakeKey({ line, start, wanted: { subdomain, project }, names, name, onMade }: MakeKeyProps) {
  const mint = useMinting(project);
  // The user has the key: its name stands for it, or a file does.
  const isRunnable = start !== null && (hasKeyFile(start) || start.key?.is_valid === true);
  const scope = names ?? (subdomain === undefined || subdomain === '' ? ['*'] : [nameInProject(subdomain, project)]);
  const only = scope.includes('*') ? `up to ${KEY_TUNNELS} tunnels at a time` : `the name ${scope.join(', ')}`;
  return (
    <Stack gap={6} align="flex-start">
      {isRunnable ? (
        <CopyLine value={line} what="the command" />
      ) : (
        <Code
          block
          className="culvert-copy-text"
          w="100%"
          flex="none"
          tabIndex={0}
          role="group"
          aria-label="the command without its key"
        >
          {line}
        </Code>
      )}
      {start !== null && <LastKey start={start} />}
      <Button
        leftSection={<IconKey size={16} />}
        loading={mint.isPending}
        onClick={() => mint.mutate({ name, scope: [...scope] }, { onSuccess: onMade })}
      >
        Create key
      </Button>
      <Text size="xs" c="dimmed" className="culvert-wrap">
        The key is for {only} and expires in {KEY_DAYS} days.
      </Text>
    </Stack>
  );
}

/** The key that the last agent had. Its secret is not here. */
function LastKey({ start }: { readonly start: StartCommand }) {
  const { key } = start;
  if (key === null || key.is_login) return null;
  return (
    <Text size="sm" className="culvert-wrap">
      {!key.is_valid && `The last agent used the key ${key.name}, which is no longer valid. Create another one.`}
      {key.is_valid &&
        (hasKeyFile(start)
          ? `The last agent read the key ${key.name} from that file.`
          : `The last agent used the key ${key.name}. Insert it, or create another one.`)}
    </Text>
  );
}

/** A key of the project when there is one, else of the organization. */
function useMinting(project: string | undefined) {
  const { client } = useApi();
  return useAction({
    run: ({ name, scope }: { name: string; scope: string[] }) => {
      const shared = { name, tunnelQuota: KEY_TUNNELS, bandwidthLimitMbps: 100 };
      if (project === undefined) {
        const body = { ...shared, ttlHours: KEY_DAYS * 24, allowedSubdomains: scope };
        return answered<MintedToken>(client.POST('/tokens', { body }));
      }
      const body = { ...shared, ttl_hours: KEY_DAYS * 24, allowed_subdomains: scope };
      return answered<MintedToken>(
        client.POST('/projects/{slug}/tokens', { params: { path: { slug: project } }, body }),
      );
    },
    touches: [['tokens'], ['projects']],
  });
}

function shellHere(): ShellKind {
  return /Windows/.test(navigator.userAgent) ? 'powershell' : 'posix';
}
