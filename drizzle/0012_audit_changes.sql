ALTER TABLE `audit_events` ADD `resource_name` text;--> statement-breakpoint
ALTER TABLE `audit_events` ADD `changes` text;