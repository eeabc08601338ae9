/** Fields and link buttons of the steps, marked for browsers, phones and password managers. */
import { Anchor, PasswordInput, type PasswordInputProps, TextInput, type TextInputProps } from '@mantine/core';

const PLAIN = { autoCapitalize: 'none', spellCheck: false, required: true, withAsterisk: false, size: 'md' } as const;

/** An address of an account. `type` "email" where the browser may judge it: for an old one the server does. */
export function EmailField(props: TextInputProps) {
  return (
    <TextInput
      label="Email address"
      name="email"
      inputMode="email"
      autoComplete="username"
      maxLength={320}
      {...PLAIN}
      {...props}
    />
  );
}

/** A code from an app or an email. */
export function CodeField(props: TextInputProps) {
  return (
    <TextInput name="code" inputMode="numeric" autoComplete="one-time-code" maxLength={64} {...PLAIN} {...props} />
  );
}

/** A password. Mantine marks a wrong one for all but screen readers. */
export function PasswordField(props: PasswordInputProps) {
  const isWrong = props.error !== undefined && props.error !== null && props.error !== false;
  return (
    <PasswordInput
      label="Password"
      maxLength={1024}
      required
      withAsterisk={false}
      size="md"
      visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
      aria-invalid={isWrong ? true : undefined}
      {...props}
    />
  );
}

interface LinkButtonProps {
  readonly children: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** A button that looks like a link: the lesser ways of a step. */
export function LinkButton({ children, disabled = false, onClick }: LinkButtonProps) {
  return (
    <Anchor
      component="button"
      type="button"
      size="sm"
      className="culvert-auth-link"
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </Anchor>
  );
}
