/** How the program comes to the machine of the service. */
import { Code, Stack, Text } from '@mantine/core';
import { useApi } from '../../api/context.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { copyCommand, isHere } from './install.ts';

export function GetCulvert() {
  const { url } = useApi();
  const here = isHere(url);
  return (
    <Stack gap={6}>
      <Text size="sm">
        On the machine where your service runs. It is the same single file as the server. See whether it is there
        already:
      </Text>
      <CopyLine value="culvert --version" what="the command that says the version" />
      {here ? (
        <Text size="sm" c="dimmed">
          The server runs on this machine, so its program is here too: <Code>dist/culvert</Code> where it was built, or{' '}
          <Code>/usr/local/bin/culvert</Code> once it is installed.
        </Text>
      ) : (
        <>
          <Text size="sm">
            If it is not: from the server, to a machine with the same system and processor. Your operator can also give
            you the file.
          </Text>
          <CopyLine value={copyCommand(url)} what="the command that copies the program" />
          <Text size="sm" c="dimmed">
            Elsewhere, and on Windows, build it from the source: <Code>npm ci && npm run build</Code> makes{' '}
            <Code>dist/culvert</Code>.
          </Text>
        </>
      )}
    </Stack>
  );
}
