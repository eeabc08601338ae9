/**
 * What stands in the place of a page that can't be drawn: its code could not be fetched (a server that was upgraded has other files), or it failed.
 * Without it React takes the whole dashboard away. Another page is tried anew.
 */
import { Button, Group } from '@mantine/core';
import { IconPlugX } from '@tabler/icons-react';
import { Component, type ReactNode } from 'react';
import { Empty } from './parts/empty.tsx';
import { Page } from './parts/page.tsx';

interface BoundaryProps {
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failed: boolean;
}

/** Give it a key that changes with the address: then going elsewhere is the way out. */
export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failed: false };

  static getDerivedStateFromError(): BoundaryState {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? <Failed again={() => this.setState({ failed: false })} /> : this.props.children;
  }
}

function Failed({ again }: { readonly again: () => void }) {
  return (
    <Page title="Page failed to load">
      <Empty
        icon={IconPlugX}
        title="The page's code could not be loaded, or it crashed"
        action={
          <Group gap="xs">
            <Button onClick={again}>Try again</Button>
            <Button variant="default" onClick={() => location.reload()}>
              Reload
            </Button>
          </Group>
        }
      >
        After a server upgrade, reload open pages. If this page fails again, see the error in the browser&apos;s
        console.
      </Empty>
    </Page>
  );
}
