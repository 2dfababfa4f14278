"""What standard libraries and common frameworks call their methods.

After a receiver of unknown type such a name means nothing here, were it defined only once in the repository.
"""

from __future__ import annotations

WELL_KNOWN = frozenset(
    """
    add addAll addEventListener addListener all allMatch and_then any anyMatch append appendChild apply as_bytes as_mut
    as_ref as_slice as_str asList assertEqual assertEquals assertThat assertTrue assertRaises at await bind byteLength
    call capitalize catch charAt charCodeAt chars clear clone cmp codePointAt collect compareTo computeIfAbsent concat
    contains containsKey containsValue copy count createElement decode defineProperty doubleValue drain each empty
    encode ends_with endsWith endswith entries entrySet enumerate eq equals err every expect extend extend_from_slice
    filter finally find findAll findFirst findIndex first flat flatMap flat_map floatValue flush fmt fold forEach
    for_each format from fromEntries from_str get getAttribute getClass getElementById getKey getLogger getMessage
    getName getOrDefault getOwnPropertyNames getParameter getPath getTime getType getValue group groups has has_key
    hasNext hasOwnProperty hash hashCode hexdigest includes index indexOf insert insert_one intValue into into_inner
    into_iter is_empty is_err is_none is_ok is_some isArray isdigit isEmpty isInstance isPresent items iter iter_mut
    join keys keySet last lastIndexOf len length ljust lock longValue lower lstrip map map_err match max merge min mock
    next none noneMatch notify notifyAll now ok ok_or ok_or_else or_else or_insert orElse orElseGet orElseThrow padEnd
    padStart parseInt parse_args partition peek pollFirst pop pop_back pop_front popitem poll position preventDefault
    print printf println printStackTrace push push_back push_front push_str put putAll putIfAbsent querySelector
    ReadAll ReadFrom readLine ReadString readString reduce reject remove removeAll removeChild removeEventListener
    repeat replace replaceAll replace_all resolve rest result rev reverse reversed RoundTrip rpartition rsplit rstrip
    search ServeHTTP set setattr setAttribute setdefault setTimeout setUp setValue shift size skip sleep slice some
    sort sort_by sorted splice split split_at splitlines spread start_with starts_with startsWith startswith stream
    strip stringValue sub subString substr substring sum take tap tearDown test then title to_bytes to_dict to_json
    to_list to_lowercase to_owned to_str to_string to_vec toArray toBytes toFixed toISOString toJSON toList
    toLocaleString toLowerCase toPrecision toString toUpperCase trim trimEnd trimStart try_from try_into union unshift
    unwrap unwrap_err unwrap_or unwrap_or_default unwrap_or_else update upper value valueOf values wait with_capacity
    WriteByte WriteHeader WriteString WriteTo writeTo zip
    """.split()  # noqa: SIM905
)
