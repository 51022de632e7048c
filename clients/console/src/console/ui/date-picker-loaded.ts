export { DatePickerInput } from "@mantine/dates";
