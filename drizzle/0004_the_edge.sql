CREATE TABLE `basic_gates` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`username` text NOT NULL,
	`password_hash` text NOT NULL,
	`version` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `tunnel_policies` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`policy` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `visitor_gates` (
	`tunnel_id` text PRIMARY KEY NOT NULL,
	`allowed_domains` text NOT NULL,
	`allowed_emails` text NOT NULL,
	`version` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `acme_accounts` (
	`directory_url` text PRIMARY KEY NOT NULL,
	`account_url` text NOT NULL,
	`sealed_key` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `certificates` (
	`name` text PRIMARY KEY NOT NULL,
	`chain` text,
	`sealed_key` text,
	`expires_at` integer,
	`next_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`last_error` text,
	`last_attempt_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `certificates_next` ON `certificates` (`next_at`);--> statement-breakpoint
CREATE TABLE `domains` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`domain` text NOT NULL,
	`verification_token` text NOT NULL,
	`verified_at` integer,
	`checked_at` integer,
	`failing_since` integer,
	`tunnel_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`tunnel_id`) REFERENCES `tunnels`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `domains_org_domain` ON `domains` (`org_id`,`domain`);--> statement-breakpoint
CREATE UNIQUE INDEX `domains_verified` ON `domains` (`domain`) WHERE verified_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `domains_tunnel` ON `domains` (`tunnel_id`);--> statement-breakpoint
CREATE INDEX `domains_checked` ON `domains` (`checked_at`) WHERE verified_at IS NOT NULL;